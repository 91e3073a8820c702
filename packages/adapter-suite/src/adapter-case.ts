import type { Abilities, AdapterHarness, Ending, Scenario, SuiteTool } from './harness.ts';
import type { Service } from './service.ts';

/** What a case is run with. */
export interface CaseContext {
  readonly harness: AdapterHarness;
  readonly service: Service;
  /** A session of this case's own. */
  readonly sessionId: string;
}

/** One thing that every adapter does. It throws where the adapter does not. */
export interface AdapterCase {
  readonly name: string;
  /** Whether the case says anything about a framework with these abilities. Default: it always does. */
  readonly appliesTo?: (abilities: Abilities) => boolean;
  readonly check: (context: CaseContext) => Promise<void>;
}

/** Tools that note when they run: `echo` answers, `fail` throws an error with status 502. */
export function suiteTools() {
  const ran: string[] = [];
  const echo: SuiteTool = {
    name: 'echo',
    run: async ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  };
  const fail: SuiteTool = {
    name: 'fail',
    run: async () => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
  };
  return { ran, echo, fail, all: [echo, fail] };
}

/** A turn of the model that calls `echo` with each text. */
export function echoes(...texts: string[]) {
  return texts.map((text) => ({ toolName: 'echo', arguments: { text } }));
}

/** An ending as two runs are compared by it. */
export function comparable({ answers, finalText, error }: Ending) {
  return { answers, finalText, error: error instanceof Error ? error.message : error };
}

/** The same run without the adapter. */
export function bare(harness: AdapterHarness, scenario: Scenario): Promise<Ending> {
  const { adapter: _, isInstalledTwice: __, ...rest } = scenario;
  return harness.run(rest);
}

/** All that the model and the caller were told, in one text. */
export function toldBy({ answers, finalText, error }: Ending): string {
  const thrown = error instanceof Error ? `${error.message} ${(error.cause as Error)?.message ?? ''}` : '';
  return [...answers.map(({ text }) => text), finalText, thrown].join('\n');
}
