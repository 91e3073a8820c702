import type { EndpointName } from '@actlog/protocol';
import type { BodyName } from '../contract-options.ts';
import { type ApiResponse, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import type { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import { defaultBodies } from './default-bodies.ts';
import type { Deployment } from './deployment.ts';
import { identifierCandidates, identifierThatReads } from './identifier.ts';

/** Kinds of records that a run creates. */
export type RecordKind = 'agents' | 'policies' | 'notificationChannels';

/** A record that the run created. */
export interface MadeRecord {
  readonly name: string;
  /** Response to its creation. */
  readonly response: ApiResponse;
  /** Identifier; undefined if none was found. */
  readonly id: string | undefined;
}

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
    return this.#deployment.filled(this.#deployment.settings.bodies[name] ?? defaultBodies[name], values);
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

  /** Creates a record with the given body, by default that of the endpoint. */
  async make(kind: RecordKind, given?: unknown): Promise<MadeRecord> {
    const name = this.#deployment.newName(kind.toLowerCase());
    const body = given ?? this.body(`${kind}.create`, { name });
    const response = await this.#deployment.probe.call(`${kind}.create`, { body });
    if (!succeeded(response)) return { name, response, id: undefined };
    this.counts[kind] += 1;
    const id = await this.#identifier(kind, response);
    if (kind === 'policies' && id !== undefined) this.#policies.add(id);
    return { name, response, id };
  }

  async #identifier(kind: RecordKind, response: ApiResponse): Promise<string | undefined> {
    if (this.#deployment.isReference && isObject(response.json)) return String(response.json.id);
    if (kind === 'notificationChannels') return identifierCandidates(response)[0];
    return identifierThatReads(response, (id) => this.#deployment.probe.call(`${kind}.get`, { id }));
  }

  /** Returns the record with its identifier; skips the check if it has none. */
  async identified(kind: RecordKind, number = 1): Promise<MadeRecord & { readonly id: string }> {
    const made = await this.made(kind, number);
    this.taken(`${kind}.create`, made.response);
    if (made.id === undefined) {
      return skip(
        `no string in ${describeResponse(made.response)} is an identifier with which the record can be read`,
      );
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
    const isKnown = this.#deployment.isReference || this.#deployment.settings.bodies[bodyName] !== undefined;
    const isRefusal = status >= 400 && status < 500 && ![401, 404, 405].includes(status);
    if (isRefusal && !isKnown) {
      skip(
        `the specification leaves the body open and this one was rejected (${describeResponse(response)}); pass one in --bodies`,
      );
    }
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
