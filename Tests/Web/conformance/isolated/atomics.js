onmessage = ({ data }) => { Atomics.store(new Int32Array(data), 0, 42); postMessage(1); };
