import type { EndpointName } from '@actlog/protocol';
import type { BodyName } from '../contract-options.ts';
import { type ApiResponse, codeOf, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import type { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import { defaultBodies } from './default-bodies.ts';
import type { Deployment } from './deployment.ts';
import { type IdentifierCandidate, identifierCandidates, locationEnd, valueAt } from './identifier.ts';
import { listed } from './list-walk.ts';

/** Kinds of records that a run creates. */
export type RecordKind = 'agents' | 'policies' | 'notificationChannels';

/** A record that the run created. */
export interface MadeRecord {
  /** Name of the record; its body contains it, unless the body was given without `{name}`. */
  readonly name: string;
  /** Response to its creation. */
  readonly response: ApiResponse;
  /** Identifier; undefined if none was found. */
  readonly id: string | undefined;
  /** Number of values with which the record was tried to be read. */
  readonly tried: number;
}

/** Minimum length of a value that is unlikely to identify a record of another user by chance, in characters. */
const unmistakableLength = 8;

/** Records of a run, created when a check first needs them and tracked for cleanup. */
export class Records {
  readonly #deployment: Deployment;
  readonly #made = new Map<string, Promise<MadeRecord>>();
  readonly #policies = new Set<string>();
  /** Number of created records by kind. */
  readonly counts: Record<RecordKind, number> = { agents: 0, policies: 0, notificationChannels: 0 };

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Returns the body of an endpoint with its names filled in. */
  body(name: BodyName, values: Readonly<Record<string, string>>): unknown {
    return this.#deployment.filled(this.template(name), values);
  }

  /** Returns the body of an endpoint before its names are filled in. */
  template(name: BodyName): unknown {
    return this.#deployment.settings.bodies[name] ?? defaultBodies[name];
  }

  /** Returns the record of this kind and number, creating it once. */
  made(kind: RecordKind, number = 1): Promise<MadeRecord> {
    const key = `${kind} ${number}`;
    let made = this.#made.get(key);
    if (!made) {
      made = this.make(kind);
      this.#made.set(key, made);
    }
    return made;
  }

  /** Creates a record with the body for a new name, by default the endpoint's body. */
  async make(
    kind: RecordKind,
    bodyFor: (name: string) => unknown = (name) => this.body(`${kind}.create`, { name }),
  ): Promise<MadeRecord> {
    const name = this.#deployment.newName(kind.toLowerCase());
    const body = bodyFor(name);
    const response = await this.#deployment.probe.call(`${kind}.create`, { body });
    if (!succeeded(response)) return { name, response, id: undefined, tried: 0 };
    this.counts[kind] += 1;
    const found = await this.#identifier(kind, response, JSON.stringify(body).includes(name) ? name : '');
    if (kind === 'policies' && found.id !== undefined) this.#policies.add(found.id);
    return { name, response, ...found };
  }

  async #identifier(
    kind: RecordKind,
    response: ApiResponse,
    name: string,
  ): Promise<Pick<MadeRecord, 'id' | 'tried'>> {
    const { json } = response;
    if (this.#deployment.isReference && isObject(json)) return { id: valueAt(json, ['id']), tried: 1 };
    const candidates = [
      ...locationEnd(response),
      ...identifierCandidates(kind, json, [this.#deployment.prefix]),
    ];
    if (kind === 'notificationChannels') return { id: candidates[0]?.text, tried: candidates.length };
    let tried = candidates.length;
    const id = await this.#deployment.eventually(
      async () => {
        const read = await this.#firstThatReads(kind, candidates, name);
        if (read !== undefined || name === '') return read;
        const inList = await this.#candidatesInList(kind, name);
        tried = Math.max(tried, inList.length);
        return this.#firstThatReads(kind, inList, name);
      },
      (found) => found !== undefined || (name === '' && candidates.length === 0),
    );
    return { id, tried };
  }

  /**
   * Returns the first value with which the record is read. The record that is read must contain its name; a value that
   * cannot be a number of another record is taken without it.
   */
  async #firstThatReads(
    kind: 'agents' | 'policies',
    candidates: readonly IdentifierCandidate[],
    name: string,
  ): Promise<string | undefined> {
    let nameless: string | undefined;
    for (const { text, path } of candidates) {
      const read = await this.#deployment.probe.call(`${kind}.get`, { id: text });
      if (!succeeded(read)) continue;
      if (name !== '' && read.text.includes(name)) return text;
      if (path.length === 0 || text.length >= unmistakableLength) nameless ??= text;
    }
    return nameless;
  }

  /** Returns the candidates of the item that names the record, for a creation that responds with no identifier. */
  async #candidatesInList(kind: 'agents' | 'policies', name: string): Promise<IdentifierCandidate[]> {
    const names = (item: unknown) => JSON.stringify(item).includes(name);
    const until = (items: readonly unknown[]) => items.some(names);
    const list = await listed(this.#deployment, `${kind}.list`, { until }).catch(() => undefined);
    return identifierCandidates(kind, list?.items.find(names), [this.#deployment.prefix]);
  }

  /** Returns the record with its identifier; skips the check if it has none. */
  async identified(kind: RecordKind, number = 1): Promise<MadeRecord & { readonly id: string }> {
    const made = await this.made(kind, number);
    this.taken(`${kind}.create`, made.response);
    if (made.id === undefined) {
      return skip(`no value in ${describeResponse(made.response)} is an identifier that reads the record`);
    }
    return { ...made, id: made.id };
  }

  /**
   * Skips the check if a deployment rejects a body that the specification leaves open, because it may require another
   * one. If the deployment claims the reference profile, or the body was given for it, the rejection counts.
   */
  taken(name: EndpointName, response: ApiResponse, bodyName: BodyName = name): void {
    const { status } = response;
    if (status === 403) skip(`the key may not do this: ${describeResponse(response)}`);
    const isRefusal = status >= 400 && status < 500 && ![401, 404, 405].includes(status);
    if (isRefusal && !this.isClaimed(bodyName)) {
      skip(
        `the body of ${response.method} ${response.path.split('?', 1)[0]} is open, and the default one was rejected with ` +
          `${status} ${codeOf(response) ?? ''}; pass yours in --bodies`,
      );
    }
  }

  /** `true` if the deployment claims to accept the body of an endpoint. */
  isClaimed(name: BodyName): boolean {
    return this.#deployment.isReference || this.#deployment.settings.bodies[name] !== undefined;
  }

  /** `true` if the run created the policy with this identifier. */
  hasPolicy(id: unknown): boolean {
    return this.#policies.has(String(id));
  }

  /** Archives every policy of the run; returns those that could not be archived. */
  async cleanUp(probe: Probe): Promise<string[]> {
    const left: string[] = [];
    for (const id of this.#policies) {
      try {
        const response = await probe.call('policies.archive', { id });
        if (!succeeded(response) && response.status !== 404)
          left.push(`policy ${id}: ${describeResponse(response)}`);
      } catch (error) {
        left.push(`policy ${id}, which may be active: ${(error as Error).message}`);
      }
    }
    return left;
  }
}
