using System.Net;
using System.Reflection;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;

namespace Taskscale.Workloads.Interp;

/// <summary>
/// Kestrel as it comes, with one route. Its builder is the empty one: nothing logs, and neither variables of the
/// environment nor files beside it change what is served.
/// </summary>
internal sealed class Kestrel : IDisposable {
    /// <summary>Why there is no server, and what would help. Here is one.</summary>
    internal static readonly (string Reason, string Remedy)? Missing = null;
    internal static readonly string Name = "Kestrel " + typeof(KestrelServer).Assembly
        .GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];

    private readonly WebApplication app;

    private Kestrel(WebApplication app) => this.app = app;

    internal int Port => new Uri(app.Urls.Single()).Port;

    /// <summary>Serves <paramref name="right"/>, or what <paramref name="answer"/> says is wrong.</summary>
    internal static Kestrel Start(byte[] right, Func<ValueTask<string?>> answer) {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(options => options.Listen(IPAddress.Loopback, 0));
        builder.Services.AddRoutingCore();
        WebApplication app = builder.Build();
        app.MapGet("/", new RequestDelegate(async context => {
            ReadOnlyMemory<byte> body = right;
            if (await answer() is string wrong) {
                context.Response.StatusCode = StatusCodes.Status500InternalServerError;
                body = Encoding.UTF8.GetBytes(wrong);
            }
            // Without it the body would come in chunks.
            context.Response.ContentLength = body.Length;
            await context.Response.BodyWriter.WriteAsync(body);
        }));
        app.StartAsync().GetAwaiter().GetResult();
        return new(app);
    }

    public void Dispose() => app.DisposeAsync().AsTask().GetAwaiter().GetResult();
}
