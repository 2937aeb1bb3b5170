;; A module of somebody else.
(component
  (import "library" (core module)))
