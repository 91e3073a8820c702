/** The packs of `packages/cli/policy-packs`, which the build reads, without their tests. */
declare module 'policy-packs' {
  /** Policies for one kind of work. */
  export interface PolicyPack {
    /** Name in the command, such as `shell-git`. */
    readonly name: string;
    /** First line of its explanation. */
    readonly title: string;
    /** Rest of its explanation. */
    readonly explanation: string;
    readonly policies: readonly import('@actlog/client').PolicyCreate[];
  }
  export const packs: readonly PolicyPack[];
}
