;; The network itself, as a capability.
(component
  (import "wasi:sockets/instance-network@0.2.6" (instance (export "instance-network" (func)))))
