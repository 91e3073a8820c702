import { type EndpointName, endpointNames } from '@actlog/protocol';
import { type HttpHandler, http } from 'msw';
import { endpointOf, pathBelow } from '../service/router.ts';

/** Options that select the requests of a fault. */
export interface FaultOptions {
  /** Endpoint or endpoints that have the fault. Default: all. */
  readonly endpoint?: EndpointName | readonly EndpointName[] | undefined;
  /** Number of requests that have the fault; later ones are handled normally. Default: all. */
  readonly times?: number | undefined;
}

/** Effect of a fault on a request: a response, or undefined to pass it on to the next handlers. */
export type Damage = (request: Request, endpoint: EndpointName | undefined) => Promise<Response | undefined>;

/**
 * Creates the handler of a fault.
 *
 * @throws TypeError if an option is invalid.
 */
export function fault(baseURL: string, { endpoint, times }: FaultOptions, damage: Damage): HttpHandler {
  const names = endpoint === undefined ? undefined : [endpoint].flat();
  const unknown = names?.find((name) => !endpointNames.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`unknown endpoint "${unknown}"; use one of ${endpointNames.join(', ')}.`);
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
 * Validates a count.
 *
 * @throws TypeError if it is not an integer of at least `minimum`.
 */
export function wholeNumber(field: string, value: number | undefined, minimum: number): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= minimum)) return value;
  throw new TypeError(`${field} must be an integer of at least ${minimum}, got ${value}.`);
}
