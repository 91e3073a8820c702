import { type EndpointName, endpointNames } from '@actlog/protocol';
import { type HttpHandler, http } from 'msw';
import { endpointOf, pathBelow } from '../service/router.ts';

/** Which requests a fault meets. */
export interface FaultOptions {
  /** The endpoint that has the fault, or several. Default: all. */
  readonly endpoint?: EndpointName | readonly EndpointName[] | undefined;
  /** How many requests meet it; those after them are answered as ever. Default: all. */
  readonly times?: number | undefined;
}

/** What a fault does to a request: answers it, or leaves it to the handlers behind. */
export type Damage = (request: Request, endpoint: EndpointName | undefined) => Promise<Response | undefined>;

/**
 * Makes the handler of a fault.
 *
 * @throws TypeError When an option cannot be used.
 */
export function fault(baseURL: string, { endpoint, times }: FaultOptions, damage: Damage): HttpHandler {
  const names = endpoint === undefined ? undefined : [endpoint].flat();
  const unknown = names?.find((name) => !endpointNames.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`endpoint "${unknown}" is no endpoint; use one of ${endpointNames.join(', ')}.`);
  }
  let left = wholeNumber('times', times, 1) ?? Number.POSITIVE_INFINITY;
  const isMeant = ({ request }: { readonly request: Request }) => {
    if (pathBelow(baseURL, request.url) === undefined) return false;
    const name = endpointOf(baseURL, request);
    return names === undefined || (name !== undefined && names.includes(name));
  };
  return http.all(isMeant, async ({ request }) => {
    if (left <= 0) return undefined;
    left -= 1;
    return damage(request, endpointOf(baseURL, request));
  });
}

/**
 * Checks a count.
 *
 * @throws TypeError When it is no whole number from `minimum`.
 */
export function wholeNumber(field: string, value: number | undefined, minimum: number): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= minimum)) return value;
  throw new TypeError(`${field} must be a whole number from ${minimum}, and is ${value}.`);
}
