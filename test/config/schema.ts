/** The JSON Schema of the configuration, as an editor would use it. */
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { configSchema } from '../../src/config/json-schema.ts'

const validate: ValidateFunction = new Ajv({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  configSchema(),
)

/** What the schema says against a configuration; empty where it fits. */
export function against(config: unknown): string[] {
  return validate(config) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
}
