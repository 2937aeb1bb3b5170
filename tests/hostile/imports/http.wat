;; Requests to servers.
(component
  (import "wasi:http/outgoing-handler@0.2.6" (instance (export "handle" (func)))))
