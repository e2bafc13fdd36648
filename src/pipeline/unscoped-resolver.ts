/** The resolver of sessions without `multi_environment_mcp`: one server for each bare name, and no environment in any request. */
import { BaseResolver } from './resolver.ts'
import type { ResourceQuery, ResourceSelection } from './resource-selection.ts'
import { selectUnscoped } from './resource-selection.ts'

/** One winner a name is visible, under its name without a scope. */
export class UnscopedResolver extends BaseResolver {
  override readonly takesEnvironment = false

  override selectForResources(query: ResourceQuery): ResourceSelection {
    return selectUnscoped(this.view, query)
  }
}
