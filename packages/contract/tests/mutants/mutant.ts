import type { ContractOptions } from '../../src/index.ts';
import type { Fault, Passing, Returning } from '../faulty-proxy.ts';

/** A JSON document that a fault changes. */
// biome-ignore lint/suspicious/noExplicitAny: a fault reaches into any response of the service
export type Document = any;

/** Keys that faults distinguish. */
export interface MutantKeys {
  readonly own: string;
  readonly other: string;
  readonly retired: string;
}

/** A deployment with one fault, and exactly the requirements that must detect it. */
export interface Mutant {
  readonly name: string;
  /** Ids of all failing requirements; `*` marks a SHOULD. */
  readonly caughtBy: readonly string[];
  readonly options?: Partial<ContractOptions>;
  /** Creates a new fault, so that its state belongs to one run. */
  readonly fault: (keys: MutantKeys) => Fault;
}

const usual = { 'content-type': 'application/json', 'x-request-id': 'made-by-the-fault' };

/** Creates a response of the fault itself. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Returning {
  return {
    status,
    headers: { ...usual, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** Creates an error envelope. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): Returning {
  return reply(status, { error: { code, message: 'It cannot be done.' } }, headers);
}

/** `true` if a request matches a route such as `GET /v1/sessions/:id`. */
export function isTo(route: string, { method, path }: Passing): boolean {
  const [wanted, pattern = ''] = route.split(' ');
  const expression = new RegExp(
    `^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`,
  );
  return (wanted === '*' || method === wanted) && expression.test(path);
}

/** `true` if a request has a key. */
export function isKeyed({ headers }: Passing): boolean {
  return headers.authorization?.startsWith('Bearer al_') ?? false;
}

/** Creates a fault of every successful response of a route. */
export function responses(
  route: string,
  change: (returning: Returning, passing: Passing) => void,
): () => Fault {
  return () => ({
    response: (returning, passing) => {
      if (returning.status < 300 && isTo(route, passing)) change(returning, passing);
    },
  });
}

/**
 * Creates a fault of the JSON in every successful response of a route: `change` edits it or returns a
 * replacement.
 */
export function documents(
  route: string,
  change: (document: Document, passing: Passing) => unknown,
): () => Fault {
  return responses(route, (returning, passing) => edit(returning, (document) => change(document, passing)));
}

/** Creates a fault of the JSON in every error with one of these statuses. */
export function envelopes(
  route: string,
  statuses: readonly number[],
  change: (document: Document) => unknown,
): () => Fault {
  return () => ({
    response: (returning, passing) => {
      if (statuses.includes(returning.status) && isTo(route, passing)) edit(returning, change);
    },
  });
}

/** Creates a fault of every request with a key to a route. */
export function requests(route: string, change: (passing: Passing) => unknown): () => Fault {
  return () => ({
    request: (passing) => (isTo(route, passing) && isKeyed(passing) ? change(passing) : undefined),
  });
}

/** Creates a fault of every event: `change` edits it before the service receives it. */
export function events(change: (event: Document) => unknown): () => Fault {
  return requests('POST /v1/events', (passing) => {
    try {
      const document: Document = JSON.parse(passing.body);
      passing.body = JSON.stringify(change(document) ?? document);
    } catch {
      // invalid JSON is passed on unchanged
    }
  });
}

function edit(returning: Returning, change: (document: Document) => unknown): void {
  const document: Document = JSON.parse(returning.body);
  returning.body = JSON.stringify(change(document) ?? document);
}
