// Runs in a page that has nothing but `supabase-js`: what any client of the platform can have.

globalThis.listener = (() => {
  let client = null;
  let channel = null;
  let heard = {};

  function open({ apiUrl, publishableKey, accessToken }) {
    client = globalThis.supabase.createClient(apiUrl, publishableKey, {
      accessToken: () => Promise.resolve(accessToken),
    });
  }

  async function follow(jobId) {
    if (channel !== null) await client.removeChannel(channel);
    heard = {};
    channel = client.channel(`supaswarm:master:${jobId}`, { config: { private: true } })
      .on("broadcast", { event: "tool.completed" }, ({ payload }) => {
        heard[payload.data.step_seq] = performance.timeOrigin + performance.now();
      });
    await new Promise((resolve, reject) => {
      channel.subscribe((status, error) => {
        if (status === "SUBSCRIBED") resolve();
        if (status === "CHANNEL_ERROR" || status === "TIMED_OUT") reject(error ?? status);
      });
    });
  }

  return { open, follow, endsHeard: () => heard };
})();
