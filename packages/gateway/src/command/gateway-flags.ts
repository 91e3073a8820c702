/** Options of the command `actlog gateway`. */
export interface GatewayFlags {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly listen?: number;
  readonly host: string;
  readonly agent?: string;
  readonly guard?: 'off' | 'observe' | 'enforce';
  readonly onUnavailable?: 'allow' | 'deny';
  readonly holdSeconds?: number;
  readonly toolPrefix?: string;
  readonly showArguments?: string | true;
  readonly onChangedTool?: 'hold' | 'deny' | 'allow';
  readonly pin?: string;
  readonly deniedTools?: 'list' | 'hide' | 'keep-hidden';
  readonly authorize?: string;
  readonly announce?: boolean;
  readonly wrap?: string;
  readonly unwrap?: string;
  readonly server?: string;
  readonly print?: boolean;
}

/** Reports a mistake in the arguments, and ends the command. */
export type Misuse = (message: string) => never;
