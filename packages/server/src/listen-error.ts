/** Address on which a server is to listen. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const choosePort = 'choose another port (--port, ACTLOG_PORT), or 0 for a free one';
const chooseHost = 'choose another host (--host, ACTLOG_HOST)';

/** Returns an error that says why a server cannot listen and what to do. Returns any other error unchanged. */
export function listenError(error: unknown, { host, port }: ListenAddress): unknown {
  const problem = problemOf((error as NodeJS.ErrnoException | undefined)?.code, { host, port });
  return problem === undefined ? error : new Error(problem, { cause: error });
}

function problemOf(code: string | undefined, { host, port }: ListenAddress): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `The port ${port} of ${host} is in use, perhaps by another actlog: ${choosePort}.`;
    case 'EACCES':
      return `This process may not listen on the port ${port}: ${choosePort}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address "${host}" to listen on: ${chooseHost}.`;
    default:
      return undefined;
  }
}
