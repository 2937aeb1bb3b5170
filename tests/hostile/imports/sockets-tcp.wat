;; Connections.
(component
  (import "wasi:sockets/tcp-create-socket@0.2.6" (instance (export "create-tcp-socket" (func)))))
