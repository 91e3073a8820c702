import type { EndpointName } from '@actlog/protocol';
import type { BodyName } from '../contract-options.ts';
import { type Answer, isObject, succeeded, told } from '../http/answer.ts';
import type { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import { defaultBodies } from './default-bodies.ts';
import type { Deployment } from './deployment.ts';
import { identifierCandidates, identifierThatReads } from './identifier.ts';

/** Agents, policies and webhooks that a run makes. */
export type RecordKind = 'agents' | 'policies' | 'notificationChannels';

/** Something that the run has made. */
export interface MadeRecord {
  readonly name: string;
  /** The answer to its creation. */
  readonly answer: Answer;
  /** Its identifier; undefined where none was found. */
  readonly id: string | undefined;
}

/** The records of a run, made when a check first needs them, and remembered for cleaning up. */
export class Records {
  readonly #deployment: Deployment;
  readonly #made = new Map<string, Promise<MadeRecord>>();
  readonly #policies = new Set<string>();
  /** How many records of each kind were made. */
  readonly counts: Record<RecordKind, number> = { agents: 0, policies: 0, notificationChannels: 0 };

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** The body of an endpoint with its names filled in. */
  body(name: BodyName, values: Readonly<Record<string, string>>): unknown {
    return this.#deployment.filled(this.#deployment.settings.bodies[name] ?? defaultBodies[name], values);
  }

  /** The record of this kind and number, made once. */
  made(kind: RecordKind, number = 1): Promise<MadeRecord> {
    const key = `${kind} ${number}`;
    let made = this.#made.get(key);
    if (!made) {
      made = this.make(kind);
      this.#made.set(key, made);
    }
    return made;
  }

  /** Makes a record; its body is that of the endpoint, unless another is given. */
  async make(kind: RecordKind, given?: unknown): Promise<MadeRecord> {
    const name = this.#deployment.newName(kind.toLowerCase());
    const body = given ?? this.body(`${kind}.create`, { name });
    const answer = await this.#deployment.probe.call(`${kind}.create`, { body });
    if (!succeeded(answer)) return { name, answer, id: undefined };
    this.counts[kind] += 1;
    const id = await this.#identifier(kind, answer);
    if (kind === 'policies' && id !== undefined) this.#policies.add(id);
    return { name, answer, id };
  }

  async #identifier(kind: RecordKind, answer: Answer): Promise<string | undefined> {
    if (this.#deployment.isReference && isObject(answer.json)) return String(answer.json.id);
    if (kind === 'notificationChannels') return identifierCandidates(answer)[0];
    return identifierThatReads(answer, (id) => this.#deployment.probe.call(`${kind}.get`, { id }));
  }

  /** The record with its identifier; skips the check where there is none. */
  async identified(kind: RecordKind, number = 1): Promise<MadeRecord & { readonly id: string }> {
    const made = await this.made(kind, number);
    this.taken(`${kind}.create`, made.answer);
    if (made.id === undefined) {
      return skip(`no text in ${told(made.answer)} is an identifier that a record can be read by`);
    }
    return { ...made, id: made.id };
  }

  /**
   * Skips the check where a deployment refuses a body that the specification leaves open: it may ask for another one.
   * Where the deployment claims the reference profile, or the body was given for it, the refusal counts.
   */
  taken(name: EndpointName, answer: Answer, bodyName: BodyName = name): void {
    const { status } = answer;
    if (status === 403) skip(`the key may not do this: ${told(answer)}`);
    const isKnown = this.#deployment.isReference || this.#deployment.settings.bodies[bodyName] !== undefined;
    const isRefusal = status >= 400 && status < 500 && ![401, 404, 405].includes(status);
    if (isRefusal && !isKnown) {
      skip(`the body is left open, and this one was refused (${told(answer)}): give one in --bodies`);
    }
  }

  /** Whether the run has made the policy with this identifier. */
  hasPolicy(id: unknown): boolean {
    return this.#policies.has(String(id));
  }

  /** Archives every policy of the run; returns what could not be. */
  async cleanUp(probe: Probe): Promise<string[]> {
    const left: string[] = [];
    for (const id of this.#policies) {
      try {
        const answer = await probe.call('policies.archive', { id });
        if (!succeeded(answer) && answer.status !== 404) left.push(`policy ${id}: ${told(answer)}`);
      } catch (error) {
        left.push(`policy ${id}, which may be active: ${(error as Error).message}`);
      }
    }
    return left;
  }
}
