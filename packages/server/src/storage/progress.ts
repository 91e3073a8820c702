/** Callback for the slow steps of a start. Each message is one line. */
export type Progress = (message: string) => void;
