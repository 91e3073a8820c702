import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';
import { tagBits } from '../taxonomy/tag.ts';

const EXEC = tagBits('exec');
const UNTRUSTED = tagBits('ingest_untrusted');
const CODE = NOUN_CLASS_NAMES.indexOf('code') + 1;

/** Code run after text of unknown authors. */
export const executionAfterUntrusted: Rule = {
  id: 'execution.after-untrusted',
  title: 'Code run after text of unknown authors',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal:
    'Code, a command or a computer is driven after text came in that somebody else wrote, other than code itself.',
  weight: 0.26,
  cluster: 'grave-after-untrusted',
  precedented: true,
  falsePositives: 'Coding agents, which read issues and run tests; their baseline takes it back.',
  recommendation: {
    title: 'Run code where it can do no harm',
    text: 'Run it in a sandbox without network and secrets, and hold it for approval once foreign text was read.',
  },
  detect(view) {
    const read = view.steps.find((step) => (step.bits & UNTRUSTED) !== 0 && step.noun !== CODE);
    if (read === undefined) return undefined;
    const found = view.acts.filter((step) => step.at > read.at && (step.bits & EXEC) !== 0);
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      [read, ...found],
      1,
      `${toolName(view, first.tool)} ran something after ${toolName(view, read.tool)} had brought in text of others.`,
    );
  },
  fires: [
    { name: 'reads an issue, runs a command', steps: ['get_issue', 'execute_command'] },
    { name: 'reads a page, runs Python', steps: ['fetch_url', 'python_repl'] },
  ],
  quiet: [
    { name: 'runs, then reads', steps: ['execute_command', 'get_issue'] },
    { name: 'reads a page, calculates', steps: ['fetch_url', 'calculate'] },
  ],
};
