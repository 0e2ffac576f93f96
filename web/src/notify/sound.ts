/** Two short tones, made here: there is no file to fetch. */
let context: AudioContext | undefined;

export function ring(): void {
  try {
    context ??= new AudioContext();
    const start = context.currentTime;
    tone(context, 660, start, 0.12);
    tone(context, 880, start + 0.13, 0.16);
  } catch {
    // the browser allows no sound before somebody has touched the page
  }
}

function tone(to: AudioContext, hertz: number, start: number, seconds: number): void {
  const source = to.createOscillator();
  const volume = to.createGain();
  source.frequency.value = hertz;
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(0.12, start + 0.01);
  volume.gain.exponentialRampToValueAtTime(0.001, start + seconds);
  source.connect(volume).connect(to.destination);
  source.start(start);
  source.stop(start + seconds);
}
