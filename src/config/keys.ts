/** Every key of tapline.json: what the readers know, and what `tapline config schema` says. */
import { FLAG_NAME } from '../flags/define-flag.ts'
import { PLUGIN_MODES } from '../plugin-mode.ts'
import { ENVIRONMENT_ID, SERVER_NAME } from '../servers/definition.ts'
import { choice, seconds, text, texts, textMap, truth, whatever, whole, word } from './shape.ts'
import type { Bounds, Shape, Shapes } from './shape.ts'

export const MODES = ['auto', 'writes', 'prompt', 'approve', 'deny'] as const
/** What HTTP allows. */
export const HEADER_NAME: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
export const VARIABLE_SOURCES = ['local', 'remote'] as const
export const SHARING = ['session', 'runtime'] as const
export const PROTOCOLS = ['auto', '2025-11-25'] as const
export const OUTPUT_SCHEMA = ['enforce', 'report'] as const
export const TYPES = ['stdio', 'http', 'sse', 'streamable-http', 'streamableHttp'] as const
export const PROFILES = ['read-only', 'workspace-write', 'full-access', 'external'] as const
export const SCHEMES = ['stable', 'codex'] as const
export const POLICIES = ['on-request', 'untrusted', 'never'] as const
/** Room for a message of ours at least, and no more than one frame of a server can have. */
export const RESULT_BYTES: Bounds = { least: 1024, most: 64 * 1024 * 1024 }
export const NAME_LENGTH: Bounds = { least: 64, most: 128 }

/** A bare name, without `${}`. */
export const VARIABLE_NAME: RegExp = /^[^=\0\s${}]+$/
/** A package, and maybe a module in it. */
export const PACKAGE_NAME: RegExp = /^(?!.*\.\.)(@[\w.~-]+\/)?[\w~-][\w.~-]*(\/[\w.~/-]+)?$/
/** Absolute, or from the folder of the file. */
export const MODULE_PATH = '^(\\.{1,2}[\\\\/]|[\\\\/]|[A-Za-z]:[\\\\/]).*\\.[cm]?js$'

const MODE: Shape = choice(MODES, 'when a person is asked before the tool runs')

/** Of an entry of `tools` of a server. */
export const TOOL: Shapes = { approvalMode: MODE }

/** Of an entry of `envVars` that is an object. */
export const ENV_VAR: Shapes = {
  name: word('name of the variable', { pattern: VARIABLE_NAME.source }),
  source: choice(VARIABLE_SOURCES, 'whose variable: of this machine, or of the one where the server runs'),
}

/** Of a server that is a process. */
export const STDIO: Shapes = {
  command: word('the program; no shell'),
  args: texts('its arguments, as they are'),
  env: textMap('variables for the server', /^[^=]+$/),
  envVars: whatever('names of variables of this process that are passed on', {
    type: 'array',
    items: { anyOf: [{ type: 'string', pattern: VARIABLE_NAME.source }, { $ref: '#/definitions/envVar' }] },
  }),
  cwd: word('where it runs'),
}

/** Of a server that is reached over HTTP. */
export const HTTP: Shapes = {
  url: word('address of the server', { pattern: '^[hH][tT][tT][pP][sS]?://|\\$\\{' }),
  httpHeaders: textMap('headers of every request', HEADER_NAME),
  envHttpHeaders: whatever('header → name of the variable that has its value', {
    type: 'object',
    propertyNames: { pattern: HEADER_NAME.source },
    additionalProperties: { type: 'string', pattern: VARIABLE_NAME.source },
  }),
  bearerTokenEnvVar: word('name of the variable that has the bearer token', { pattern: VARIABLE_NAME.source }),
}

/** Of any server. */
export const POLICY: Shapes = {
  enabled: truth('false: never started'),
  required: truth('true: started when a session opens, and its failure fails the opening'),
  startupTimeoutSec: seconds('start, initialize and first list together; default 30'),
  toolTimeoutSec: seconds('limit of a call without a sign of life; default 300'),
  toolTotalTimeoutSec: seconds('limit of a whole call'),
  enabledTools: texts('only these tools'),
  disabledTools: texts('not these tools'),
  defaultToolsApprovalMode: MODE,
  tools: whatever('tool → its approval mode', { type: 'object', additionalProperties: { $ref: '#/definitions/tool' } }),
  trustAnnotations: truth('whether hints such as readOnlyHint are believed'),
  supportsParallelToolCalls: truth('false: one call at a time'),
  sharing: choice(SHARING, 'runtime: sessions that answer questions of the server share its process all the same'),
  maxResultBytes: whole(RESULT_BYTES, 'bytes of JSON that a result may have; default 8388608'),
  protocol: choice(PROTOCOLS, 'the newest revision of MCP that is offered to the server'),
  outputSchema: choice(OUTPUT_SCHEMA, 'what becomes of an answer that does not fit the output schema of its tool'),
  environment: word('where a thread-wide server runs'),
  installation: word('tells two installations of one server in one environment apart', {
    pattern: ENVIRONMENT_ID.source,
    not: { const: 'default' },
  }),
}

/** How other clients write it. */
export const SPELLINGS: Shapes = {
  type: choice(TYPES, 'not needed: command or url says it'),
  disabled: truth('the opposite of enabled'),
  headers: textMap('the same as httpHeaders', HEADER_NAME),
}

/** Of permissions that are an object and not opaque. */
export const PROFILE: Shapes = {
  type: choice(PROFILES, 'what the servers are told they may do'),
  networkAccess: truth('whether they may use the network'),
  writableRoots: texts('folders that may be written'),
  excludeSlashTmp: truth('true: /tmp may not be written'),
  excludeTmpdirEnvVar: truth('true: the folder of TMPDIR may not be written'),
}

export const OPAQUE: Shapes = {
  type: choice(['opaque'], 'a ready policy'),
  sandboxState: whatever('handed on unchanged', { type: ['object', 'string'] }),
}

export const GRANULAR: Shapes = { mcpElicitations: truth('whether servers may ask a person') }

/** Of an environment; other executors than `local` have options beside them. */
export const ENVIRONMENT: Shapes = {
  executor: whatever('"local", or how the machine is reached', {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'object', required: ['kind'], properties: { kind: { type: 'string', minLength: 1 } } },
    ],
  }),
  cwd: word('folder of its servers'),
  extraRoots: texts('further folders'),
  permissions: whatever('what its servers are told they may do', { $ref: '#/definitions/permissions' }),
  approvalPolicy: whatever('whether questions are put to a person', { $ref: '#/definitions/approvalPolicy' }),
  mcpServers: whatever('servers of this environment', { $ref: '#/definitions/servers' }),
  codexExecutable: word('absolute path of a Codex CLI that can sandbox commands'),
  pluginRoots: texts('folders of plugin packages on that machine; * stands for any name'),
  discover: truth('exec-server: true takes the plugin packages that are installed there'),
}

/** Keys of `POLICY` that the host may set for a server of a plugin package: everything but who owns it and where it runs. */
export const OVERLAY: Shapes = Object.fromEntries(Object.entries(POLICY).filter(([key]) => key !== 'environment' && key !== 'installation'))

/** Of an entry of `plugins`. */
export const PACKAGE: Shapes = {
  path: word('folder of the package: on this machine from the folder of the file, elsewhere from the cwd of the environment'),
  environment: word('where it is installed; default "local"'),
  installation: word('tells two installations in one environment apart', { pattern: ENVIRONMENT_ID.source, not: { const: 'default' } }),
  mcpServers: whatever('server of the package → its policy', {
    type: 'object',
    additionalProperties: { $ref: '#/definitions/overlay' },
  }),
}

/** The hook plugins of `tapline/builtin`, as a configuration names them. */
export const BUILTIN_HOOKS = ['tool-list', 'retry', 'redact', 'audit-log', 'dry-run', 'open-telemetry'] as const
/** What becomes of a call where a command hook fails. */
export const ON_FAILURE = ['block', 'continue'] as const

/** Of a `mode` that a flag decides. */
export const MODE_FLAG: Shapes = {
  flag: word('name of the flag, which is declared by this', { pattern: FLAG_NAME.source }),
  default: choice(PLUGIN_MODES, 'the mode where nothing sets the flag'),
}

/** Of an entry of `hooks` that is an object. */
export const HOOK: Shapes = {
  module: word('path of a module', { pattern: MODULE_PATH }),
  package: word('name of a package', { pattern: PACKAGE_NAME.source }),
  builtin: choice(BUILTIN_HOOKS, 'a hook plugin that comes with tapline'),
  commandHooks: word('a hooks file, JSON or TOML, as other programs have it'),
  options: whatever('given to the plugin', { type: 'object' }),
  onFailure: choice(ON_FAILURE, 'of command hooks: what becomes of a call where one of them fails'),
  env: whatever('of command hooks: names of variables of this process that they get', {
    type: 'array',
    items: { type: 'string', pattern: VARIABLE_NAME.source },
  }),
  environments: whatever('only calls to servers of these environments; null: servers without one', {
    type: 'array',
    items: { type: ['string', 'null'] },
  }),
  servers: texts('only calls to these servers'),
  tools: texts('only calls to these tools'),
  mode: whatever('off: not loaded; shadow: runs, and nothing that it says takes effect', {
    anyOf: [{ enum: PLUGIN_MODES }, { $ref: '#/definitions/modeFlag' }],
  }),
}

export const NAMING: Shapes = {
  scheme: choice(SCHEMES, 'how visible names are made'),
  maxLength: whole(NAME_LENGTH, 'longest visible name of a tool'),
}

export const STORE: Shapes = { file: word('folder of the store') }

export const TRACE: Shapes = {
  file: word('records of calls are appended to it, one JSON object on each line'),
  arguments: truth('true: with the arguments of the calls; default: only a digest of them'),
}

export const FLAGS: Shapes = { flagd: word('flagd definition file that decides flags, and is followed while sessions are opened') }

/** What a file and code have at the top. */
export const TOP: Shapes = {
  environments: whatever('places where servers run', {
    type: 'object',
    propertyNames: { pattern: ENVIRONMENT_ID.source, not: { const: 'thread-wide' } },
    additionalProperties: { $ref: '#/definitions/environment' },
  }),
  selectedEnvironments: whatever('what a session works with; the first is the primary one', {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    uniqueItems: true,
  }),
  mcpServers: whatever('servers that belong to no environment', { $ref: '#/definitions/servers' }),
  features: whatever('flag → value', { type: 'object', additionalProperties: { type: ['boolean', 'string'] } }),
  naming: whatever('names of tools', { $ref: '#/definitions/naming' }),
  plugins: whatever('plugin packages: folders that bring servers', { type: 'array', items: { $ref: '#/definitions/package' } }),
  resourceTools: truth('tools for resources are offered to the model'),
}

/** What only a file has at the top. */
export const FILE_TOP: Shapes = {
  ...TOP,
  hooks: whatever('hook plugins, in their order', { type: 'array', items: { $ref: '#/definitions/hook' } }),
  store: whatever('where approvals and lists are kept', { $ref: '#/definitions/store' }),
  trace: whatever('where records of calls are kept', { $ref: '#/definitions/trace' }),
  flags: whatever('where the values of flags come from', { $ref: '#/definitions/flags' }),
  $schema: text('for editors'),
}

/** Names of servers. */
export const SERVER_NAMES: { readonly pattern: string } = { pattern: SERVER_NAME.source }
