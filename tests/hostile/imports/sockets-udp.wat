;; Datagrams.
(component
  (import "wasi:sockets/udp-create-socket@0.2.6" (instance (export "create-udp-socket" (func)))))
