// Pages and dialogs that few visits begin with, in one script: many small ones would each cost a request.

export { CommandPalette } from '../palette/command-palette.tsx';
export { ShortcutList } from '../shell/sidebar.tsx';
export { Agents } from './agents.tsx';
export { Approvals } from './approvals.tsx';
export { Audit } from './audit.tsx';
export { Channels } from './channels.tsx';
export { Decisions } from './decisions.tsx';
export { Events } from './events.tsx';
export { Judgments } from './judgments.tsx';
export { Keys } from './keys.tsx';
export { AgentPage, ToolPage, Tools } from './named-activity.tsx';
export { Policies } from './policies.tsx';
export { PolicyEditor } from './policy-editor.tsx';
export { Records } from './records.tsx';
export { Webhook } from './webhook.tsx';
export { Webhooks } from './webhooks.tsx';
