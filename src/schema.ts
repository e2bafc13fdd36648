/** Leaf room: what options of a plugin are checked with. */

/** Any validator that implements Standard Schema (zod 3.24 and later, valibot, arktype …). */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
  }
}

/** What `validate` answers. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input']
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']
