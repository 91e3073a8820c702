import type { ContractOptions } from '../../src/index.ts';
import type { Fault, Passing, Returning } from '../faulty-proxy.ts';

/** A JSON document that a fault changes. */
// biome-ignore lint/suspicious/noExplicitAny: a fault reaches into whatever the service answers
export type Document = any;

/** Keys that faults tell apart. */
export interface MutantKeys {
  readonly own: string;
  readonly other: string;
  readonly retired: string;
}

/** A deployment with one fault, and the requirements that have to notice it: these and no others. */
export interface Mutant {
  readonly name: string;
  /** Ids of all requirements that fail; `*` stands in front of those that are only a SHOULD. */
  readonly caughtBy: readonly string[];
  readonly options?: Partial<ContractOptions>;
  /** Makes the fault anew, so that what it remembers belongs to one run. */
  readonly fault: (keys: MutantKeys) => Fault;
}

const usual = { 'content-type': 'application/json', 'x-request-id': 'made-by-the-fault' };

/** An answer that the fault makes itself. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Returning {
  return {
    status,
    headers: { ...usual, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** An error in the envelope. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): Returning {
  return reply(status, { error: { code, message: 'It cannot be done.' } }, headers);
}

/** Whether a request goes to `GET /v1/sessions/:id`, written so. */
export function isTo(route: string, { method, path }: Passing): boolean {
  const [wanted, pattern = ''] = route.split(' ');
  const expression = new RegExp(
    `^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`,
  );
  return (wanted === '*' || method === wanted) && expression.test(path);
}

/** Whether a request carries a key. */
export function isKeyed({ headers }: Passing): boolean {
  return headers.authorization?.startsWith('Bearer al_') ?? false;
}

/** A fault of every answer of a route with success. */
export function answers(
  route: string,
  change: (returning: Returning, passing: Passing) => void,
): () => Fault {
  return () => ({
    response: (returning, passing) => {
      if (returning.status < 300 && isTo(route, passing)) change(returning, passing);
    },
  });
}

/** A fault of the JSON of every answer of a route with success: `change` edits it, or returns another. */
export function documents(
  route: string,
  change: (document: Document, passing: Passing) => unknown,
): () => Fault {
  return answers(route, (returning, passing) => edit(returning, (document) => change(document, passing)));
}

/** A fault of the JSON of every error whose status is one of these. */
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

/** A fault of every request to a route that carries a key. */
export function requests(route: string, change: (passing: Passing) => unknown): () => Fault {
  return () => ({
    request: (passing) => (isTo(route, passing) && isKeyed(passing) ? change(passing) : undefined),
  });
}

/** A fault of every event that is sent: `change` edits it before the service sees it. */
export function events(change: (event: Document) => unknown): () => Fault {
  return requests('POST /v1/events', (passing) => {
    try {
      const document: Document = JSON.parse(passing.body);
      passing.body = JSON.stringify(change(document) ?? document);
    } catch {
      // what is no JSON passes as it is
    }
  });
}

function edit(returning: Returning, change: (document: Document) => unknown): void {
  const document: Document = JSON.parse(returning.body);
  returning.body = JSON.stringify(change(document) ?? document);
}
