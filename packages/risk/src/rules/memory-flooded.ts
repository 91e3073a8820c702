import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyWrites = 8;

/** Detects many writes to memory in one session. */
export const memoryFlooded: Rule = {
  id: 'memory.flooded',
  title: 'Memory flooded',
  dimension: 'ASI06',
  llm: ['LLM04:2025 Data and Model Poisoning', 'LLM10:2025 Unbounded Consumption'],
  signal: 'The session writes eight or more entries to memory.',
  weight: 0.2,
  acts: ['memory_write'],
  falsePositives: 'An initial import of knowledge.',
  recommendation: {
    title: 'Check what later sessions will read',
    text: 'Review the entries of this session, and limit writes to memory with a rate in a policy.',
  },
  detect(view) {
    const writes = tallyOf(view, 'memory_write');
    if (writes.count < manyWrites) return undefined;
    return matched(
      [firstOf(writes), lastOf(writes)],
      Math.min(1, writes.count / 20),
      `${counted(writes.count, 'entry').replace('entrys', 'entries')} were written to memory.`,
      writes.count,
    );
  },
  fires: [{ name: 'ten entries', steps: ['read_file', { tool: 'add_memory', times: 10 }] }],
  quiet: [
    { name: 'five entries', steps: [{ tool: 'add_memory', times: 5 }] },
    { name: 'ten files', steps: [{ tool: 'write_file', times: 7 }] },
    {
      name: 'seven entries in long work',
      steps: [
        { tool: 'read_file', times: 60 },
        { tool: 'add_memory', times: 7 },
      ],
    },
  ],
};
