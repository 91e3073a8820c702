import Radio from 'lucide/dist/esm/icons/radio.mjs';
import { EmptyState } from '../empty-state.tsx';

const program = `import { Recorder } from '@actlog/recorder';

await using recorder = new Recorder({ agentId: 'my-agent' });
await recorder.toolCall({ toolName: 'search', arguments: { query } }, () => search(query));`;

/** Instructions for sending the first event, for users who have just started a server. */
export function FirstEvent() {
  const address = new URL('..', document.baseURI.split('#')[0]).href.replace(/\/$/, '');
  return (
    <EmptyState icon={Radio} title="No agent has sent an event yet.">
      <p>
        This is all an agent needs, with or without a framework. The{' '}
        <a href="../docs/start/quick-start">quick start</a> has each step.
      </p>
      <pre>
        {`npm install @actlog/recorder\nexport ACTLOG_BASE_URL=${address} ACTLOG_API_KEY=al_…\n\n${program}`}
      </pre>
    </EmptyState>
  );
}
