/** Where a server was to listen. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const choosePort = 'choose another port (--port, ACTLOG_PORT), or 0 for a free one';
const chooseHost = 'choose another host (--host, ACTLOG_HOST)';

/** Says why a server cannot listen, and the way out, in the place of the system's code; other errors stay as they are. */
export function listenError(error: unknown, { host, port }: ListenAddress): unknown {
  const problem = problemOf((error as NodeJS.ErrnoException | undefined)?.code, { host, port });
  return problem === undefined ? error : new Error(problem, { cause: error });
}

function problemOf(code: string | undefined, { host, port }: ListenAddress): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `The port ${port} of ${host} is in use, perhaps by another actlog: ${choosePort}.`;
    case 'EACCES':
      return `The system does not let this process listen on the port ${port}: ${choosePort}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address "${host}" to listen on: ${chooseHost}.`;
    default:
      return undefined;
  }
}
