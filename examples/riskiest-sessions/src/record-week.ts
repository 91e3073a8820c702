import type { Recorder } from '@actlog/recorder';

/** A past session: its start, its agent and the called tools. */
interface PastSession {
  readonly id: string;
  readonly agentId: string;
  readonly daysAgo: number;
  readonly toolNames: readonly string[];
}

const past: readonly PastSession[] = [
  { id: 'order-2291', agentId: 'shop-desk', daysAgo: 9, toolNames: ['get_order', 'run_shell', 'send_email'] },
  { id: 'order-2304', agentId: 'shop-desk', daysAgo: 6, toolNames: ['get_order', 'get_customer'] },
  { id: 'order-2317', agentId: 'shop-desk', daysAgo: 5, toolNames: ['get_order', 'get_customer'] },
  {
    id: 'mailbox-tidying',
    agentId: 'assistant',
    daysAgo: 4,
    toolNames: [
      'read_inbox',
      'search_contacts',
      'download_attachment',
      'execute_command',
      'post_to_slack',
      'delete_email',
    ],
  },
  {
    id: 'order-2340',
    agentId: 'shop-desk',
    daysAgo: 3,
    toolNames: ['get_order', 'get_order', 'get_customer'],
  },
  {
    id: 'market-research',
    agentId: 'analyst',
    daysAgo: 2,
    toolNames: ['search_web', 'list_customers', 'export_customers', 'send_email', 'delete_email'],
  },
  {
    id: 'pull-request-77',
    agentId: 'coder',
    daysAgo: 1,
    toolNames: ['get_issue', 'read_file', 'run_tests', 'create_pull_request'],
  },
];

/** Records a week of three agents, with the times at which it happened. */
export function recordWeek(recorder: Recorder, now: Date): void {
  for (const { id, agentId, daysAgo, toolNames } of past) {
    const startedMs = now.getTime() - daysAgo * 24 * 3_600_000;
    for (const [index, toolName] of toolNames.entries()) {
      recorder.session(id).record({
        agentId,
        toolName,
        arguments: { step: index },
        responseStatus: 200,
        sourceTimestamp: new Date(startedMs + index * 4000),
      });
    }
  }
}
