import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { shown } from './shown.ts';

/**
 * Puts an id into a path of the endpoint table.
 *
 * @throws InvalidArgumentError When the id is no string, empty, `.` or `..` (which proxies resolve, so that the
 * request would reach another endpoint), or not well-formed Unicode.
 */
export function endpointPath(template: string, id: string | undefined): string {
  if (!template.includes(':id')) return template;
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..' || !id.isWellFormed()) {
    throw new InvalidArgumentError(
      `id in ${template} must be the identifier of a record, and is ${shown(id)}.`,
    );
  }
  return template.replace(':id', () => encodeURIComponent(id));
}

/**
 * Checks a path that the caller wrote.
 *
 * @throws InvalidArgumentError When it is no path of this deployment: an absolute address would carry the key away.
 */
export function freePath(path: string): string {
  if (
    typeof path !== 'string' ||
    !path.startsWith('/') ||
    path.startsWith('//') ||
    /[\s\\#]/.test(path) ||
    !path.isWellFormed()
  ) {
    throw new InvalidArgumentError(
      'path must be relative to baseURL and encoded, such as /v1/agents: one slash first, no space, no fragment.',
    );
  }
  const segments = path.split('?', 1)[0]?.split('/') ?? [];
  if (segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new InvalidArgumentError('path must not hold the segments `.` and `..`.');
  }
  return encodeURI(path).replaceAll('%25', '%');
}
