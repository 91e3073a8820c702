const program = `import { Recorder } from '@actlog/recorder';

await using recorder = new Recorder({ agentId: 'my-agent' });
await recorder.toolCall({ toolName: 'search', arguments: { query } }, () => search(query));`;

/** Instructions for sending the first event, for users who have just started a server. */
export function FirstEvent() {
  const address = new URL('..', document.baseURI.split('#')[0]).href.replace(/\/$/, '');
  return (
    <div class="empty">
      <p>No agent has sent an event yet. This is all that one needs, with or without a framework:</p>
      <pre>
        {`npm install @actlog/recorder\nexport ACTLOG_BASE_URL=${address} ACTLOG_API_KEY=al_…\n\n${program}`}
      </pre>
    </div>
  );
}
