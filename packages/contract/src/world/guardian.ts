import {
  type ApiResponse,
  describeResponse,
  isObject,
  type JsonObject,
  succeeded,
} from '../http/api-response.ts';
import type { Probe } from '../http/probe.ts';
import { fail, skip } from '../outcome.ts';
import { defaultBodies } from './default-bodies.ts';
import type { Deployment } from './deployment.ts';
import { type ActionNames, type Hold, namesAny } from './hold.ts';
import { identifierCandidates, valueAt } from './identifier.ts';
import { listed, type WalkOptions } from './list-walk.ts';
import type { Records } from './records.ts';

/** An action that a policy of the run holds. */
export interface HeldAction extends Hold {
  /** The action as it was listed when it was held. */
  readonly item: JsonObject;
}

/** A decision about a held action. */
export interface Decision {
  readonly held: HeldAction;
  /** Response to the decision. */
  readonly response: ApiResponse;
  /** Identifier of the action; undefined if no value of it could be decided. */
  readonly id: string | undefined;
  /** Names of the members that lead to the identifier of a held action; empty if it is unknown. */
  readonly idPath: readonly string[];
}

/** Statuses of a decision for a value that is not the identifier of a pending action. */
const noSuchAction = new Set([400, 404, 409, 410, 422]);

/** Held actions of a run. Never decides actions of others. */
export class Guardian {
  readonly #deployment: Deployment;
  readonly #records: Records;
  readonly #holds = new Map<number, Promise<Hold>>();
  /** Names of the actions that were checked with the key of another tenant. */
  readonly #foreign: { readonly key: string; readonly names: ActionNames }[] = [];
  #decision: Promise<Decision> | undefined;
  #understands: Promise<boolean> | undefined;
  /** Path of the identifier in a held action, once an action was decided. */
  #idPath: readonly string[] | undefined;

  constructor(deployment: Deployment, records: Records) {
    this.#deployment = deployment;
    this.#records = records;
    if (deployment.isReference) this.#idPath = ['id'];
  }

  /** Checks if an action may run, with a new name and session. */
  async check(agentId: string, key?: string): Promise<ApiResponse & { readonly names: ActionNames }> {
    const name = this.#deployment.newName('action');
    const sessionId = this.#deployment.newName('action-session');
    const body = this.#records.body('policies.check', { agentId, sessionId, name });
    const response = await this.#deployment.probe.call('policies.check', {
      body,
      ...(key !== undefined && { key }),
    });
    const names = { agentId, sessionId, name };
    if (key !== undefined) this.#foreign.push({ key, names });
    return { ...response, names };
  }

  /**
   * Returns the outcome of holding an action, with another agent and policy for each number; skips the check if no
   * policy that holds an action can be created.
   */
  hold(number = 1): Promise<Hold> {
    let hold = this.#holds.get(number);
    if (!hold) {
      hold = this.#hold();
      this.#holds.set(number, hold);
    }
    return hold;
  }

  /** Returns a held action; skips the check if there is none. */
  async held(number = 1): Promise<HeldAction> {
    const hold = await this.hold(number);
    if (hold.item === undefined) return skip('no action is listed as held (END-17)');
    return { ...hold, item: hold.item };
  }

  /** Returns the decision about the first held action, while a second one is also held. */
  decided(): Promise<Decision> {
    this.#decision ??= this.#decide();
    return this.#decision;
  }

  /** Returns a held action with its identifier; skips the check if it is unknown. */
  async identified(number = 1): Promise<HeldAction & { readonly id: string }> {
    const held = await this.held(number);
    if (this.#idPath === undefined) await this.decided();
    const id = this.#idPath && valueAt(held.item, this.#idPath);
    return id === undefined ? skip('the identifier of a held action is unknown (END-18)') : { ...held, id };
  }

  /** Decides a held action. */
  decide(id: string, probe: Probe = this.#deployment.probe, key?: string): Promise<ApiResponse> {
    const body = this.#records.body('guardian.pendingActions.decide', {
      name: this.#deployment.newName('decision'),
    });
    return probe.call('guardian.pendingActions.decide', { id, body, ...(key !== undefined && { key }) });
  }

  /** Returns all pending actions that the pages of the run show, including actions of other agents. */
  async pending(options: WalkOptions = {}): Promise<readonly unknown[]> {
    return (await listed(this.#deployment, 'guardian.pendingActions.list', options)).items;
  }

  /**
   * Decides every held action of the run, so that no approver is bothered; returns those that could not be
   * decided.
   */
  async cleanUp(probe: Probe): Promise<string[]> {
    const idPath = this.#idPath;
    const holds = await Promise.all([...this.#holds.values()].map((hold) => hold.catch(() => undefined)));
    const ids = holds.flatMap((hold) => (idPath && hold?.item ? [valueAt(hold.item, idPath)] : []));
    const named = this.#deployment.probe.responses.map(({ json }) => isObject(json) && json.pendingActionId);
    const left: string[] = [];
    const release = async (all: readonly unknown[], key?: string) => {
      for (const id of new Set(all)) {
        if (typeof id !== 'string') continue;
        const response = await this.decide(id, probe, key);
        // An action that is already decided or expired is fine here.
        if (!succeeded(response) && !noSuchAction.has(response.status))
          left.push(`held action ${id}: ${describeResponse(response)}`);
      }
    };
    await release([...ids, ...named]);
    for (const key of new Set(this.#foreign.map((one) => one.key))) {
      const names = this.#foreign.filter((one) => one.key === key).map((one) => one.names);
      const list = await listed(
        { probe, settings: this.#deployment.settings },
        'guardian.pendingActions.list',
        { key },
      );
      const items = list.items.filter((item) => isObject(item) && names.some((one) => namesAny(item, one)));
      await release([...named, ...items.map((item) => idPath && valueAt(item, idPath))], key);
    }
    const unknown = holds.filter((hold) => hold?.item && idPath === undefined).length;
    return unknown > 0 ? [...left, `${unknown} held actions with an unknown identifier`] : left;
  }

  /** Tries the values of the action that no other pending action has, because they could be its identifier. */
  async #decide(): Promise<Decision> {
    const held = await this.held(1);
    await this.hold(2).catch(() => undefined);
    const { item, names } = held;
    const others = (await this.pending()).filter((other) => isObject(other) && !namesAny(other, names));
    const candidates = this.#deployment.isReference
      ? [{ text: valueAt(item, ['id']) ?? '', path: ['id'] }]
      : identifierCandidates('pendingActions', item, [this.#deployment.prefix, names.agentId]);
    let telling: ApiResponse | undefined;
    for (const { text, path } of candidates) {
      if (others.some((other) => valueAt(other, path) === text || holdsValue(other, text))) continue;
      const response = await this.decide(text);
      if (succeeded(response)) {
        this.#idPath = path;
        return { held, response, id: text, idPath: path };
      }
      if (telling === undefined || telling.status === 404) telling = response;
      if (!noSuchAction.has(response.status)) break;
    }
    const response = telling ?? skip('the held action has no value that could be its identifier');
    return { held, response, id: undefined, idPath: [] };
  }

  async #hold(): Promise<Hold> {
    const records = this.#records;
    const isClaimed = records.isClaimed('policies.hold');
    // A deployment that interprets this policy differently could hold the actions of every agent.
    this.#understands ??= isClaimed ? Promise.resolve(true) : understandsPolicies(this.#deployment, records);
    if (!(await this.#understands)) {
      skip('no body for a policy that holds an action was given (policies.hold in --bodies)');
    }
    const agent = await records.make('agents');
    const agentId = agent.id ?? this.#deployment.newName('held');
    const free = await this.check(agentId);
    records.taken('policies.check', free);
    if (!succeeded(free)) skip(`no action can be checked (END-16): ${describeResponse(free)}`);
    const before = await this.pending();
    const policy = await records.make('policies', (name) => records.body('policies.hold', { agentId, name }));
    records.taken('policies.create', policy.response, 'policies.hold');
    if (!succeeded(policy.response))
      skip(`no policy holds an action (END-11): ${describeResponse(policy.response)}`);
    const checked = await this.check(agentId);
    if (!succeeded(checked)) fail(`${describeResponse(checked)} after a policy was created`);
    const seen = new Set(before.map((item) => JSON.stringify(item)));
    const isNew = (item: unknown) => !seen.has(JSON.stringify(item)) && namesAny(item, checked.names);
    const after = await this.#deployment.eventually(
      () => this.pending({ until: (items) => items.some(isNew) }),
      (items) => items.some(isNew),
    );
    const item = after.find(isNew);
    return {
      agentId,
      names: checked.names,
      policy,
      free,
      checked,
      isClaimed,
      wasHeldBefore: before.some((one) => namesAny(one, free.names)),
      item: isObject(item) ? item : undefined,
    };
  }
}

function holdsValue(item: unknown, text: string): boolean {
  return identifierCandidates('pendingActions', item).some((candidate) => candidate.text === text);
}

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
async function understandsPolicies(deployment: Deployment, records: Records): Promise<boolean> {
  if (deployment.settings.bodies['policies.create'] !== undefined) return false;
  const { id, name } = await records.make('policies');
  if (id === undefined) return false;
  const read = await deployment.probe.call('policies.get', { id });
  const known = deployment.filled(defaultBodies['policies.create'], { name });
  return succeeded(read) && includesAll(read.json, known);
}
