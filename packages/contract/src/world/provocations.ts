import { endpointNames, endpoints } from '@actlog/protocol';
import type { Answer } from '../http/answer.ts';
import type { Deployment } from './deployment.ts';
import type { Traffic } from './traffic.ts';

/** Requests that can only go wrong, so that the errors of a deployment are seen. */
export class Provocations {
  readonly #deployment: Deployment;
  readonly #traffic: Traffic;
  #reading: Promise<Answer[]> | undefined;
  #writing: Promise<Answer[]> | undefined;

  constructor(deployment: Deployment, traffic: Traffic) {
    this.#deployment = deployment;
    this.#traffic = traffic;
  }

  /** The answers to all of them; in a run that only reads, to those that only read. */
  async all(): Promise<readonly Answer[]> {
    this.#reading ??= this.#read();
    const answers = await this.#reading;
    if (this.#deployment.settings.readOnly) return answers;
    this.#writing ??= this.#write();
    return [...answers, ...(await this.#writing)];
  }

  async #read(): Promise<Answer[]> {
    const { probe } = this.#deployment;
    const id = this.#deployment.newName('nothing');
    const answers = [
      await probe.send('GET', `/v1/${id}`),
      await probe.call('sessions.list', { key: null }),
      await probe.call('sessions.list', { query: { cursor: 'no-cursor', limit: 1 } }),
    ];
    for (const name of endpointNames) {
      const { method, path } = endpoints[name];
      if (method === 'GET' && path.includes(':id')) answers.push(await probe.call(name, { id }));
    }
    return answers;
  }

  async #write(): Promise<Answer[]> {
    const { probe } = this.#deployment;
    const traffic = this.#traffic;
    const id = this.#deployment.newName('nothing');
    return [
      await probe.call('events.create', { rawBody: '{"eventId":' }),
      await probe.call('events.create', { body: [] }),
      await traffic.post(traffic.event({ eventId: 'no-uuid' })),
      await probe.send('DELETE', '/v1/events'),
      await probe.call('agents.create', { rawBody: '{' }),
      await probe.call('agents.update', { id, body: { description: id } }),
      await probe.call('policies.create', { rawBody: '[' }),
      await probe.call('policies.update', { id, body: { description: id } }),
      await probe.call('policies.archive', { id }),
      await probe.call('policies.check', { rawBody: '"' }),
      await probe.call('guardian.pendingActions.decide', { id, body: { decision: 'deny' } }),
      await probe.call('notificationChannels.create', { rawBody: '{' }),
    ];
  }
}
