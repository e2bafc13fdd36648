/** The JSON Schema of tapline.json for editors, made from the same table as the readers' keys. */
import type { JsonObject } from '../json.ts'
import {
  ENV_VAR,
  ENVIRONMENT,
  FILE_TOP,
  FLAGS,
  GRANULAR,
  HOOK,
  MODE_FLAG,
  HTTP,
  MODULE_PATH,
  NAMING,
  OPAQUE,
  OVERLAY,
  PACKAGE,
  POLICIES,
  POLICY,
  PROFILE,
  PROFILES,
  SERVER_NAMES,
  SPELLINGS,
  STDIO,
  STORE,
  TOOL,
  TRACE,
} from './keys.ts'
import type { Shapes } from './shape.ts'
import { keysOf, objectSchema, snakeCase } from './shape.ts'

/** Draft-07, which editors know best. It takes both spellings of a key, and `tapline.toml` by the same rules. */
export function configSchema(): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'tapline.json',
    ...objectSchema(FILE_TOP),
    definitions: {
      servers: { type: 'object', propertyNames: SERVER_NAMES, additionalProperties: { $ref: '#/definitions/server' } },
      server: serverSchema(),
      tool: objectSchema(TOOL),
      envVar: objectSchema(ENV_VAR, { required: ['name'] }),
      environment: environmentSchema(),
      permissions: {
        anyOf: [
          { enum: PROFILES },
          objectSchema(PROFILE, { required: ['type'] }),
          { ...objectSchema(OPAQUE), required: ['type'], ...either('sandboxState') },
        ],
      },
      approvalPolicy: {
        anyOf: [
          { enum: POLICIES },
          objectSchema(
            { granular: { says: 'by kind of question', schema: objectSchema(GRANULAR, either('mcpElicitations')) } },
            { required: ['granular'] },
          ),
        ],
      },
      hook: {
        anyOf: [{ type: 'string', pattern: MODULE_PATH }, objectSchema(HOOK, HOOK_KINDS)],
      },
      modeFlag: objectSchema(MODE_FLAG, { required: ['flag', 'default'] }),
      package: objectSchema(PACKAGE, { required: ['path'] }),
      overlay: objectSchema(OVERLAY),
      naming: objectSchema(NAMING, CODEX_NAMES),
      flags: objectSchema(FLAGS),
      store: objectSchema(STORE, { required: ['file'] }),
      trace: objectSchema(TRACE, { required: ['file'] }),
    },
  }
}

/** A process or a URL, with the keys of its kind. */
function serverSchema(): JsonObject {
  const belongs = (shapes: Shapes, main: string): [string, string[]][] =>
    keysOf(shapes)
      .filter((key) => key !== main)
      .flatMap((key) => [key, snakeCase(key)])
      .map((key) => [key, [main]])
  return objectSchema(
    { ...STDIO, ...HTTP, ...POLICY, ...SPELLINGS },
    {
      oneOf: [{ required: ['command'] }, { required: ['url'] }],
      not: { required: ['enabled', 'disabled'] },
      dependencies: Object.fromEntries([...belongs(STDIO, 'command'), ...belongs(HTTP, 'url'), ['headers', ['url']]]),
    },
  )
}

/** `local` has no keys beside ours; what another executor has is for that one to say. */
function environmentSchema(): JsonObject {
  const { additionalProperties: _, ...open } = objectSchema(ENVIRONMENT)
  const known = keysOf(ENVIRONMENT).flatMap((key) => [key, snakeCase(key)])
  return {
    ...open,
    if: { properties: { executor: { anyOf: [{ const: 'local' }, { type: 'object', properties: { kind: { const: 'local' } } }] } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { propertyNames: { enum: [...new Set(known)] } },
  }
}

/** What an entry of `hooks` names, one of three, and what goes with it. */
const HOOK_KINDS: JsonObject = {
  oneOf: ['module', 'package', 'builtin', 'commandHooks', 'command_hooks'].map((key) => ({ required: [key] })),
  dependencies: {
    ...Object.fromEntries(['onFailure', 'on_failure', 'env'].map((key) => [key, either('commandHooks')])),
    options: { not: either('commandHooks') },
  },
}

/** Codex's scheme has a length of its own. */
const CODEX_NAMES: JsonObject = {
  dependencies: Object.fromEntries(['maxLength', 'max_length'].map((key) => [key, { properties: { scheme: { const: 'stable' } } }])),
}

/** One of the two spellings must be there. */
function either(name: string): JsonObject {
  return { anyOf: [{ required: [name] }, { required: [snakeCase(name)] }] }
}
