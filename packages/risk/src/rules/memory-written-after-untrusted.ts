import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects memory that is written after untrusted content. */
export const memoryWrittenAfterUntrusted: Rule = {
  id: 'memory.written-after-untrusted',
  title: 'Memory written after untrusted content',
  dimension: 'ASI06',
  llm: ['LLM04:2025 Data and Model Poisoning', 'LLM08:2025 Vector and Embedding Weaknesses'],
  signal:
    'Something is stored for later sessions after untrusted content was read, so an injection may outlive the session.',
  weight: 0.35,
  acts: ['memory_write'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Agents that keep notes on what they read.',
  recommendation: {
    title: 'Check what was stored',
    text: 'Inspect the stored entry and remove it if it contains instructions. Keep notes about untrusted content separate from the agent’s own.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'memory_write');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} stored something for later sessions after untrusted content was read.`,
      tallyOf(view, 'memory_write').count + 1,
    );
  },
  fires: [
    { name: 'a page, then a memory', steps: ['fetch_url', 'create_memory'] },
    {
      name: 'a page, then a memory event',
      steps: ['fetch_url', { category: 'memory_write', payload: { key: 'k', contentHash: 'c' } }],
    },
  ],
  quiet: [
    { name: 'a memory of its own', steps: ['create_memory', 'fetch_url'] },
    { name: 'a page, then a file', steps: ['fetch_url', 'write_file'] },
  ],
};
