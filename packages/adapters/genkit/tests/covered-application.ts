import { Service } from '@actlog/adapter-suite';
import { generateMiddleware } from 'genkit';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { actlog } from '../src/index.ts';
import { application } from './agent.ts';

/** Call of the tool that returns its text. */
export const echo = (text: string) => ({ name: 'echo', input: { text } });

/** Call of the tool that throws, which {@link CoveredApplication} denies. */
export const fail = { name: 'fail', input: {} };

/** A middleware without hooks. */
export const passing = generateMiddleware({ name: 'passing' }, () => ({}));

/**
 * The application of the tests, covered anew in each test, with a session of its own. Its service denies `fail` and
 * holds `pay`. Create it outside of tests: it starts the service before the file's tests and closes it after them.
 */
export class CoveredApplication {
  #service: Service | undefined;
  #sessionId = '';

  constructor() {
    beforeAll(async () => {
      this.#service = await Service.start();
      await this.#service.denyTool('fail', 'Never fail.');
      await this.#service.holdTool('pay');
    });
    beforeEach(({ task }) => {
      this.#sessionId = task.id;
    });
    afterAll(() => this.service.close());
  }

  get service(): Service {
    if (!this.#service) throw new Error('The service starts before the first test.');
    return this.#service;
  }

  /** Session of the running test. */
  get sessionId(): string {
    return this.#sessionId;
  }

  /** Covers an application. */
  cover(instance = application) {
    return actlog(instance, { recorder: this.service.guarded(), sessionId: this.sessionId });
  }

  /** Returns the recorded calls of the test as lines of tool and status, such as `echo 200`. */
  async lines(): Promise<string[]> {
    return (await this.service.callLines(this.sessionId)).map((line) => line.replace('tester ', ''));
  }
}
