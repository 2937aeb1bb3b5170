;; Names of machines: a question is a message, too.
(component
  (import "wasi:sockets/ip-name-lookup@0.2.6" (instance (export "resolve-addresses" (func)))))
