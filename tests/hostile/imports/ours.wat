;; An interface of our own package, which has no imports.
(component
  (import "preopen:mcp/host@0.1.0" (instance (export "anything" (func)))))
