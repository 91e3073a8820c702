import { endpointNames, endpoints } from '@actlog/protocol';
import type { Settings } from './contract-options.ts';
import type { ApiResponse } from './http/api-response.ts';
import { Deployment } from './world/deployment.ts';
import { Guardian } from './world/guardian.ts';
import { Records } from './world/records.ts';
import { Traffic } from './world/traffic.ts';

/** Shared state of one run's checks: the deployment and the records that the run created there. */
export class Run extends Deployment {
  readonly records: Records;
  readonly traffic: Traffic;
  readonly guardian: Guardian;
  readonly provocations: Provocations;

  constructor(settings: Settings) {
    super(settings);
    this.records = new Records(this);
    this.traffic = new Traffic(this, this.records);
    this.guardian = new Guardian(this, this.records);
    this.provocations = new Provocations(this, this.traffic);
  }
}

/** Requests that must fail, so that a deployment's errors can be checked. */
class Provocations {
  readonly #deployment: Deployment;
  readonly #traffic: Traffic;
  #reading: Promise<ApiResponse[]> | undefined;
  #malformed: Promise<readonly ApiResponse[]> | undefined;
  #writing: Promise<ApiResponse[]> | undefined;

  constructor(deployment: Deployment, traffic: Traffic) {
    this.#deployment = deployment;
    this.#traffic = traffic;
  }

  /** Responses to all of them, or only to the read requests in a read-only run. */
  async all(): Promise<readonly ApiResponse[]> {
    this.#reading ??= this.#read();
    const responses = await this.#reading;
    if (this.#deployment.settings.readOnly) return responses;
    this.#writing ??= this.#write();
    return [...responses, ...(await this.#writing)];
  }

  /** Responses to creations and checks whose body is not JSON: agents, policies, checks and webhooks. */
  malformed(): Promise<readonly ApiResponse[]> {
    this.#malformed ??= this.#sendMalformed();
    return this.#malformed;
  }

  async #sendMalformed(): Promise<readonly ApiResponse[]> {
    const { probe } = this.#deployment;
    return [
      await probe.call('agents.create', { rawBody: '{' }),
      await probe.call('policies.create', { rawBody: '[' }),
      await probe.call('policies.check', { rawBody: '"' }),
      await probe.call('notificationChannels.create', { rawBody: '{"' }),
    ];
  }

  async #read(): Promise<ApiResponse[]> {
    const { probe } = this.#deployment;
    const id = this.#deployment.newName('nothing');
    const responses = [
      await probe.send('GET', `/v1/${id}`),
      await probe.call('sessions.list', { key: null }),
      await probe.call('sessions.list', { query: { cursor: 'no-cursor', limit: 1 } }),
    ];
    for (const name of endpointNames) {
      const { method, path } = endpoints[name];
      if (method === 'GET' && path.includes(':id')) responses.push(await probe.call(name, { id }));
    }
    return responses;
  }

  async #write(): Promise<ApiResponse[]> {
    const { probe } = this.#deployment;
    const traffic = this.#traffic;
    const id = this.#deployment.newName('nothing');
    return [
      await probe.call('events.create', { rawBody: '{"eventId":' }),
      await probe.call('events.create', { body: [] }),
      await traffic.post(traffic.event({ eventId: 'no-uuid' })),
      await probe.send('DELETE', '/v1/events'),
      await probe.call('agents.update', { id, body: { description: id } }),
      await probe.call('policies.update', { id, body: { description: id } }),
      await probe.call('policies.archive', { id }),
      await probe.call('guardian.pendingActions.decide', { id, body: { decision: 'deny' } }),
      ...(await this.malformed()),
    ];
  }
}
