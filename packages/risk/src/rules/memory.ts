import { counted, matched, type Rule } from '../rule.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';

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

/** Detects an irreversible action after memory was read. */
export const memoryReadThenAct: Rule = {
  id: 'memory.read-then-act',
  title: 'Irreversible action after memory was read',
  dimension: 'ASI06',
  llm: ['LLM04:2025 Data and Model Poisoning', 'LLM01:2025 Prompt Injection'],
  signal: 'The session reads its memory and afterwards takes an action that is hard to undo.',
  weight: 0.2,
  acts: ['final'],
  circumstantial: true,
  falsePositives: 'Remembered preferences that lead to an action that the user asked for.',
  recommendation: {
    title: 'Trace the memory to the session that wrote it',
    text: 'Find out when the entry was written and what that session had read. Remove it if it came from untrusted content.',
  },
  detect(view) {
    const found = sequence(view, 'read_memory', 'final');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} was called after ${toolName(view, read.tool)} read the memory.`,
      tallyOf(view, 'final').count + 1,
    );
  },
  fires: [
    { name: 'memory, then a payment', steps: ['search_memory', 'send_payment'] },
    { name: 'knowledge, then a message', steps: ['search_knowledge', 'send_email'] },
  ],
  quiet: [
    { name: 'a payment, then the memory', steps: ['send_payment', 'search_memory'] },
    { name: 'memory, then a note', steps: ['search_memory', 'create_note'] },
  ],
};

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
