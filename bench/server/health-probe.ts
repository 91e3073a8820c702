import { Agent, get } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Time between two probes, in milliseconds. */
const probeEveryMs = 20;

/** Requests `/healthz` repeatedly over one connection. */
export class HealthProbe {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #timesMs: number[] = [];
  #isStopped = false;

  constructor(url: string) {
    this.#url = `${url}/healthz`;
  }

  async warmUp(): Promise<void> {
    for (let count = 0; count < 50; count += 1) await this.#once();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = performance.now();
      try {
        await this.#once();
      } catch {
        return;
      }
      this.#timesMs.push(performance.now() - startedMs);
      await setTimeout(probeEveryMs);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#agent.destroy();
  }

  result() {
    const sorted = this.#timesMs.toSorted((left, right) => left - right);
    const at = (share: number) =>
      Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
    return { healthzProbes: sorted.length, healthzP99Ms: at(0.99), healthzMaxMs: at(1) };
  }

  #once(): Promise<void> {
    return new Promise((resolve, reject) => {
      get(this.#url, { agent: this.#agent }, (response) => {
        response.resume().once('end', resolve).once('error', reject);
      }).once('error', reject);
    });
  }
}
