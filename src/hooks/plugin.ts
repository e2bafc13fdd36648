export interface TapFilter {
  readonly environments?: readonly (string | null)[]
  readonly servers?: readonly string[]
  readonly tools?: readonly string[]
}
export interface HookPlugin {
  readonly name: string
  apply(ports: never): void
}
