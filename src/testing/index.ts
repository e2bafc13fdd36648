export { isTaplineError } from '../errors.ts'
