/** The tools for resources that a session itself offers to the model: what they are called and what they take (spec 40). */
import type { JsonObject } from '../json.ts'
import type { Method, ToolAnnotations } from '../mcp.ts'

/** A tool of the session itself, with `resourceTools`: no server has it, and its arguments say which one is meant. Called by its name. */
export interface ResourceTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly annotations: ToolAnnotations
}

/** Where the answer of a listing has its items. */
export type ResourceField = 'resources' | 'resourceTemplates'

/** One of the tools, as the session runs it. */
export interface ResourceToolKind {
  readonly name: string
  readonly method: Extract<Method, 'resources/list' | 'resources/templates/list' | 'resources/read'>
  /** null for a read */
  readonly field: ResourceField | null
  /** the parameters, `environment_id` and `installation_id` among them */
  readonly parameters: readonly string[]
}

const OWNER = ['server', 'environment_id', 'installation_id'] as const
const kind = (name: string, method: ResourceToolKind['method'], field: ResourceField | null, own: string): ResourceToolKind => ({
  name,
  method,
  field,
  parameters: [...OWNER, own],
})

const KINDS: ReadonlyMap<string, ResourceToolKind> = new Map(
  [
    kind('list_mcp_resources', 'resources/list', 'resources', 'cursor'),
    kind('list_mcp_resource_templates', 'resources/templates/list', 'resourceTemplates', 'cursor'),
    kind('read_mcp_resource', 'resources/read', null, 'uri'),
  ].map((one) => [one.name, one]),
)

/** The tool of this name, if it is one of these. No tool of a server can have such a name: those have a namespace before `__`. */
export const resourceToolNamed = (name: string): ResourceToolKind | undefined => KINDS.get(name)

const TEXTS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  list_mcp_resources: [
    'List MCP resources',
    'Lists the resources of MCP servers: files, database schemas and other things to be read. Without a server it lists those of all.',
  ],
  list_mcp_resource_templates: [
    'List MCP resource templates',
    'Lists the resource templates of MCP servers: URIs with places to fill in. Without a server it lists those of all.',
  ],
  read_mcp_resource: ['Read an MCP resource', 'Reads one resource of an MCP server, by the server and the URI that a listing gave.'],
}
const PARAMETERS: Readonly<Record<string, string>> = {
  server: 'Name of the MCP server, as a listing gives it.',
  environment_id: 'Environment of the server, as a listing gives it. Needed where servers of several environments are there.',
  installation_id: 'Installation of the server, where a listing gives one.',
  cursor: 'What an earlier listing of the same server gave as nextCursor.',
  uri: 'URI of the resource, as a listing gives it.',
}

/** The three tools; with parameters for the environment where names of servers may need it. */
export function resourceTools(takesEnvironment: boolean): readonly ResourceTool[] {
  return Object.freeze([...KINDS.values()].map((one) => offered(one, takesEnvironment)))
}

function offered({ name, field, parameters }: ResourceToolKind, takesEnvironment: boolean): ResourceTool {
  const [title = name, description = ''] = TEXTS[name] ?? []
  const shown = parameters.filter((parameter) => takesEnvironment || parameter === 'server' || !OWNER.includes(parameter as 'server'))
  const inputSchema: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(shown.map((parameter) => [parameter, { type: 'string', description: PARAMETERS[parameter] as string }])),
    ...(field === null && { required: ['server', 'uri'] }),
    additionalProperties: false,
  }
  return Object.freeze({ name, title, description, inputSchema, annotations: Object.freeze({ readOnlyHint: true }) })
}
