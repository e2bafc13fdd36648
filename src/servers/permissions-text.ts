/** A permission profile in one line, for people. */
import type { PermissionProfile } from './environment.ts'

/** The name of the profile and what is set beside it; the content of an opaque policy is left out. */
export function permissionsText(permissions: PermissionProfile | null): string {
  if (permissions === null) return 'not set'
  if (typeof permissions === 'string') return permissions
  const more = Object.entries(permissions).filter(([name]) => name !== 'type' && name !== 'sandboxState')
  return `${permissions.type}${more.map(([name, value]) => `, ${name} ${JSON.stringify(value)}`).join('')}`
}
