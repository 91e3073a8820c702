import { InvalidArgumentError, invalidValue } from '../errors/invalid-argument-error.ts';
import type { RecordId } from '../records/record-id.ts';

/**
 * Inserts an id into a path of the endpoint table.
 *
 * @throws InvalidArgumentError When the id is neither a string nor a safe integer, is empty, `.` or `..` (which proxies
 * resolve, so that the request would reach another endpoint), or is not well-formed Unicode.
 */
export function endpointPath(template: string, recordId: RecordId | undefined): string {
  if (!template.includes(':id')) return template;
  const id = Number.isSafeInteger(recordId) ? String(recordId) : recordId;
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..' || !id.isWellFormed()) {
    throw invalidValue(`id in ${template}`, 'a record identifier', id);
  }
  return template.replace(':id', () => encodeURIComponent(id));
}

/**
 * Checks and encodes a path passed to `Actlog.request`.
 *
 * @throws InvalidArgumentError When it is not a path of this deployment. An absolute URL would send the key elsewhere.
 */
export function rawPath(path: string): string {
  if (
    typeof path !== 'string' ||
    !path.startsWith('/') ||
    path.startsWith('//') ||
    /[\s\\#]/.test(path) ||
    !path.isWellFormed()
  ) {
    throw new InvalidArgumentError(
      'path must be relative to baseURL and percent-encoded, such as /v1/agents: start with one slash, without spaces or a fragment.',
    );
  }
  const segments = path.split('?', 1)[0]?.split('/') ?? [];
  if (segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new InvalidArgumentError('path must not contain the segments `.` and `..`.');
  }
  return encodeURI(path).replaceAll('%25', '%');
}
