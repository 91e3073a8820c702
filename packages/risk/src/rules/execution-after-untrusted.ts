import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';
import { tagBits } from '../taxonomy/tag.ts';

const EXEC = tagBits('exec');
const UNTRUSTED = tagBits('ingest_untrusted');
const CODE = NOUN_CLASS_NAMES.indexOf('code') + 1;

/** Detects code that runs after untrusted content. */
export const executionAfterUntrusted: Rule = {
  id: 'execution.after-untrusted',
  title: 'Code run after untrusted content',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The agent runs code or a command, or controls a computer, after it read text of third parties other than code.',
  weight: 0.26,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Coding agents, which read issues and run tests; their baseline lowers this.',
  recommendation: {
    title: 'Run code in a sandbox',
    text: 'Run it in a sandbox without network and secrets, and require approval after untrusted content was read.',
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
      `${toolName(view, first.tool)} ran code after ${toolName(view, read.tool)} read untrusted content.`,
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
