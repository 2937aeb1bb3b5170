;; A store that outlives the call.
(component
  (import "wasi:keyvalue/store@0.2.0-draft" (instance (export "open" (func)))))
