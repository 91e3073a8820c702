import type { Abilities, AdapterHarness, Ending, Scenario, SuiteTool } from './harness.ts';
import type { Service } from './service.ts';

/** Context of a case. */
export interface CaseContext {
  readonly harness: AdapterHarness;
  readonly service: Service;
  /** Session of this case only. */
  readonly sessionId: string;
}

/** One requirement for every adapter. Throws if the adapter does not meet it. */
export interface AdapterCase {
  readonly name: string;
  /** Returns `true` if the case applies to a framework with these abilities. Default: always. */
  readonly appliesTo?: (abilities: Abilities, harness: AdapterHarness) => boolean;
  readonly check: (context: CaseContext) => Promise<void>;
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws an error with status 502. */
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

/** Creates a turn in which the model calls `echo` with each text. */
export function echoes(...texts: string[]) {
  return texts.map((text) => ({ toolName: 'echo', arguments: { text } }));
}

/** Returns the part of an ending that is compared between runs. */
export function comparable({ toolResults, finalText, error }: Ending) {
  return { toolResults, finalText, error: error instanceof Error ? error.message : error };
}

/** Runs the scenario without the adapter. */
export function bare(harness: AdapterHarness, scenario: Scenario): Promise<Ending> {
  const { adapter: _, isInstalledTwice: __, ...rest } = scenario;
  return harness.run(rest);
}

/** Returns everything that the model and the caller received, as one text. */
export function receivedText({ toolResults, finalText, error }: Ending): string {
  const thrown = error instanceof Error ? `${error.message} ${(error.cause as Error)?.message ?? ''}` : '';
  return [...toolResults.map(({ text }) => text), finalText, thrown].join('\n');
}
