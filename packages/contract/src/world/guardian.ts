import { type ApiResponse, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import type { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';
import { identifierCandidates } from './identifier.ts';
import { listed } from './list-walk.ts';
import type { Records } from './records.ts';

/** An action that is held on behalf of the run. */
export interface HeldAction {
  readonly id: string;
  /** Agent of the action. */
  readonly agentId: string;
}

/** Held actions of a run. Actions of others are never decided. */
export class Guardian {
  readonly #deployment: Deployment;
  readonly #records: Records;
  #held: Promise<HeldAction> | undefined;

  constructor(deployment: Deployment, records: Records) {
    this.#deployment = deployment;
    this.#records = records;
  }

  /** Checks if an action may run. */
  check(agentId: string, sessionId = `${agentId}-session`): Promise<ApiResponse> {
    const values = { agentId, sessionId, name: this.#deployment.newName('action') };
    return this.#deployment.probe.call('policies.check', {
      body: this.#records.body('policies.check', values),
    });
  }

  /** Returns the held action of the run; skips the check if there is none. */
  held(): Promise<HeldAction> {
    this.#held ??= this.#hold();
    return this.#held;
  }

  /** Decides a held action. */
  decide(id: string, probe: Probe = this.#deployment.probe): Promise<ApiResponse> {
    const body = this.#records.body('guardian.pendingActions.decide', {
      name: this.#deployment.newName('decision'),
    });
    return probe.call('guardian.pendingActions.decide', { id, body });
  }

  /**
   * Decides every held action of the run, so that no approver is bothered; returns those that could not be
   * decided.
   */
  async cleanUp(probe: Probe): Promise<string[]> {
    const held = await this.#held?.catch(() => undefined);
    const named = this.#deployment.probe.responses.map(({ json }) => isObject(json) && json.pendingActionId);
    const left: string[] = [];
    for (const id of new Set([held?.id, ...named])) {
      if (typeof id !== 'string') continue;
      const response = await this.decide(id, probe);
      // An action that is already decided or expired is fine here.
      if (!succeeded(response) && ![404, 409].includes(response.status))
        left.push(`held action ${id}: ${describeResponse(response)}`);
    }
    return left;
  }

  async #hold(): Promise<HeldAction> {
    const records = this.#records;
    const { bodies } = this.#deployment.settings;
    const agentId = this.#deployment.newName('held');
    // A deployment that interprets this policy differently could hold the actions of every agent.
    if (!this.#deployment.isReference && bodies['policies.hold'] === undefined) {
      skip('no body for a policy that holds an action was given (policies.hold in --bodies)');
    }
    const name = this.#deployment.newName('hold');
    const policy = await records.make('policies', records.body('policies.hold', { agentId, name }));
    records.taken('policies.create', policy.response, 'policies.hold');
    if (!succeeded(policy.response))
      skip(`no policy holds an action (END-11): ${describeResponse(policy.response)}`);
    const checked = await this.check(agentId);
    records.taken('policies.check', checked);
    if (!succeeded(checked)) skip(`no action can be checked (END-16): ${describeResponse(checked)}`);
    const { items } = await this.#deployment.eventually(
      () => listed(this.#deployment, 'guardian.pendingActions.list'),
      (list) => list.items.some((item) => holds(item, agentId)),
    );
    const mine = items.find((item) => holds(item, agentId));
    if (!isObject(mine)) return skip('no action was held by the policy that should hold it');
    const [id] = this.#deployment.isReference
      ? [String(mine.id)]
      : identifierCandidates({ ...checked, json: mine });
    return id === undefined ? skip('the held action has no known identifier') : { id, agentId };
  }
}
