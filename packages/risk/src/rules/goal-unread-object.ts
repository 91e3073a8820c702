import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { differentPair } from '../session/pair-extremes.ts';
import { toolName } from '../session/session-view.ts';

/** Detects an action on another kind of object than was read. */
export const goalUnreadObject: Rule = {
  id: 'goal.unread-object',
  title: 'Action on another kind of object than was read',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'After untrusted content the agent acts on another kind of object than the content came from: it reads a calendar and deletes a record. The reason for such an action may be in the text.',
  weight: 0.42,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Tasks that transfer content: read a web page, send it by email.',
  recommendation: {
    title: 'Check that the user asked for both kinds of object',
    text: 'If the task did not name the object of the action, treat the session as compromised: undo the action and remove the text that led to it.',
  },
  detect(view) {
    const { readKinds, reachedKinds } = view.state;
    const found = differentPair(readKinds, reachedKinds);
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} acts on another kind of object than ${toolName(view, read.tool)} read.`,
    );
  },
  fires: [
    { name: 'reads the calendar, deletes a file', steps: ['get_calendar_events', 'delete_file'] },
    { name: 'reads mail, then files, then sends mail', steps: ['search_emails', 'list_files', 'send_email'] },
  ],
  quiet: [
    { name: 'reads mail, answers mail', steps: ['search_emails', 'send_email'] },
    { name: 'no text of others came in', steps: ['get_current_time', 'send_email'] },
  ],
};
