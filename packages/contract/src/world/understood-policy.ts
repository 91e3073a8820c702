import { isObject, succeeded } from '../http/api-response.ts';
import { defaultBodies } from './default-bodies.ts';
import type { Deployment } from './deployment.ts';
import type { Records } from './records.ts';

/** `true` if a document has every member of the expected one, with the same value. */
function includesAll(found: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(found) &&
      found.length === expected.length &&
      expected.every((item, index) => includesAll(found[index], item))
    );
  }
  if (!isObject(expected)) return found === expected;
  return (
    isObject(found) && Object.entries(expected).every(([name, value]) => includesAll(found[name], value))
  );
}

/**
 * `true` if the deployment returns a policy with every field that it was created with, so that it knows the fields of
 * the default bodies.
 */
export async function understandsPolicies(deployment: Deployment, records: Records): Promise<boolean> {
  if (deployment.settings.bodies['policies.create'] !== undefined) return false;
  const { id, name } = await records.make('policies');
  if (id === undefined) return false;
  const read = await deployment.probe.call('policies.get', { id });
  const known = deployment.filled(defaultBodies['policies.create'], { name });
  return succeeded(read) && includesAll(read.json, known);
}
