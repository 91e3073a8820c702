import { type Answer, isObject, succeeded, told } from '../http/answer.ts';
import { holds } from '../http/json-search.ts';
import type { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';
import { identifierCandidates } from './identifier.ts';
import { listed } from './list-walk.ts';
import type { Records } from './records.ts';

/** An action that is held because the run asked for it. */
export interface HeldAction {
  readonly id: string;
  /** The agent that asked. */
  readonly agentId: string;
}

/** Actions that a run has held, so that nobody else's action is ever decided. */
export class Guardian {
  readonly #deployment: Deployment;
  readonly #records: Records;
  #held: Promise<HeldAction> | undefined;

  constructor(deployment: Deployment, records: Records) {
    this.#deployment = deployment;
    this.#records = records;
  }

  /** Asks whether an action may run. */
  check(agentId: string, sessionId = `${agentId}-session`): Promise<Answer> {
    const values = { agentId, sessionId, name: this.#deployment.newName('action') };
    return this.#deployment.probe.call('policies.check', {
      body: this.#records.body('policies.check', values),
    });
  }

  /** The action that the run has held; skips the check where none is. */
  held(): Promise<HeldAction> {
    this.#held ??= this.#hold();
    return this.#held;
  }

  /** Decides a held action. */
  decide(id: string, probe: Probe = this.#deployment.probe): Promise<Answer> {
    const body = this.#records.body('guardian.pendingActions.decide', {
      name: this.#deployment.newName('decision'),
    });
    return probe.call('guardian.pendingActions.decide', { id, body });
  }

  /** Decides every action that the run has had held, so that no person is asked about it; returns what could not be. */
  async cleanUp(probe: Probe): Promise<string[]> {
    const held = await this.#held?.catch(() => undefined);
    const named = this.#deployment.probe.answers.map(({ json }) => isObject(json) && json.pendingActionId);
    const left: string[] = [];
    for (const id of new Set([held?.id, ...named])) {
      if (typeof id !== 'string') continue;
      const answer = await this.decide(id, probe);
      // One that was decided or has expired is no conflict here.
      if (!succeeded(answer) && ![404, 409].includes(answer.status))
        left.push(`held action ${id}: ${told(answer)}`);
    }
    return left;
  }

  async #hold(): Promise<HeldAction> {
    const records = this.#records;
    const { bodies } = this.#deployment.settings;
    const agentId = this.#deployment.newName('held');
    // A deployment that reads this policy in another way could hold the actions of every agent.
    if (!this.#deployment.isReference && bodies['policies.hold'] === undefined) {
      skip('no body was given of a policy that holds an action (policies.hold in --bodies)');
    }
    const name = this.#deployment.newName('hold');
    const policy = await records.make('policies', records.body('policies.hold', { agentId, name }));
    records.taken('policies.create', policy.answer, 'policies.hold');
    if (!succeeded(policy.answer)) skip(`no policy holds an action (END-11): ${told(policy.answer)}`);
    const checked = await this.check(agentId);
    records.taken('policies.check', checked);
    if (!succeeded(checked)) skip(`an action cannot be checked (END-16): ${told(checked)}`);
    const { items } = await this.#deployment.eventually(
      () => listed(this.#deployment, 'guardian.pendingActions.list'),
      (list) => list.items.some((item) => holds(item, agentId)),
    );
    const mine = items.find((item) => holds(item, agentId));
    if (!isObject(mine)) return skip('no action was held by the policy that should hold it');
    const [id] = this.#deployment.isReference
      ? [String(mine.id)]
      : identifierCandidates({ ...checked, json: mine });
    return id === undefined ? skip('the held action has no identifier that can be told') : { id, agentId };
  }
}
