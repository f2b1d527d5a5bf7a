using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using UnityEditor;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEditor.iOS.Xcode;

namespace Packs.Editor
{
    /// <summary>
    /// Adds to an exported Xcode project what packs need: the keys of the release in Info.plist, the app group, the downloader extension, and the packer
    /// package. All of it comes from the folder that <c>packer init --app</c> wrote, where <c>packer plist merge</c> keeps the numbers of the release.
    /// </summary>
    public sealed class PackExport : IPostprocessBuildWithReport
    {
        /// <summary>The folder that <c>packer init --app</c> wrote, beside Assets. Set it in an editor script of yours if it is another one.</summary>
        public static string Folder = "Packs/ios";

        private const string Target = "Downloader";
        private const string Groups = "com.apple.security.application-groups";

        /// <summary>After others, so that the entitlements that they add are kept.</summary>
        public int callbackOrder { get { return 1000; } }

        public void OnPostprocessBuild(BuildReport report)
        {
            if (report.summary.platform == BuildTarget.iOS) Apply(report.summary.outputPath, Folder);
        }

        /// <summary>Changes an exported project. Doing it again, as after an export with Append, changes only what is new.</summary>
        public static void Apply(string export, string folder)
        {
            var plist = Path.Combine(folder, "App/Info.plist");
            if (!File.Exists(plist)) throw new BuildFailedException($"{folder} has no App/Info.plist: run 'packer init --app {folder}'");
            if (Version.Parse(PlayerSettings.iOS.targetOSVersionString) < new Version(16, 1))
            {
                throw new BuildFailedException("packs need iOS 16.1: set it as the target minimum version in the player settings");
            }
            var package = Package(File.ReadAllText(Path.Combine(folder, "project.yml")), folder);

            Merge(plist, Path.Combine(export, "Info.plist"));

            var projectPath = PBXProject.GetPBXProjectPath(export);
            var project = new PBXProject();
            project.ReadFromFile(projectPath);
            var main = project.GetUnityMainTargetGuid();
            AddGroup(project, main, export, Path.Combine(folder, "App/App.entitlements"));
            var files = Copy(folder, export);
            if (!project.ContainsFileByProjectPath(Target + "/Info.plist"))
            {
                var reference = project.AddRemotePackageReferenceAtVersionUpToNextMajor(package.Key, package.Value);
                // The library is a framework: Unity's code calls it, and the app has it inside.
                project.AddRemotePackageFrameworkToProject(project.GetUnityFrameworkTargetGuid(), "PackCLibrary", reference, false);
                project.AddRemotePackageFrameworkToProject(main, "PackCLibrary", reference, false);
                AddExtension(project, main, files, reference);
            }
            SetVersions(project);
            project.WriteToFile(projectPath);
        }

        /// <summary>Reads the address and the version of the package from a project.yml that packer wrote.</summary>
        private static KeyValuePair<string, string> Package(string project, string folder)
        {
            var found = Regex.Match(project, "^  packer:\n    url: \"(.+)\"\n    from: \"(.+)\"$", RegexOptions.Multiline);
            if (found.Success) return new KeyValuePair<string, string>(found.Groups[1].Value, found.Groups[2].Value);
            throw new BuildFailedException(
                $"{folder} uses a checkout of packer, which Unity cannot add to a project: run 'packer init --app' with the https address as --package");
        }

        /// <summary>Writes all values of a property list into another one.</summary>
        private static void Merge(string from, string into)
        {
            var place = new Plist(into);
            var source = new Plist(from);
            foreach (var key in source.Root.Elements("key")) place.Set(key.Value, source.Value(key.Value));
            place.Write();
        }

        /// <summary>Adds the app group to the entitlements that the app has, or gives it the file.</summary>
        private static void AddGroup(PBXProject project, string main, string export, string file)
        {
            var given = project.GetEntitlementFilePathForTarget(main);
            if (string.IsNullOrEmpty(given))
            {
                File.Copy(file, Path.Combine(export, "App.entitlements"), true);
                project.AddFile("App.entitlements", "App.entitlements");
                project.SetBuildProperty(main, "CODE_SIGN_ENTITLEMENTS", "App.entitlements");
                return;
            }
            var place = new Plist(Path.Combine(export, given));
            var groups = new Plist(file).Value(Groups).Elements().Concat(place.Value(Groups)?.Elements() ?? new XElement[0]);
            place.Set(Groups, new XElement("array", groups.GroupBy(group => group.Value).Select(same => same.First())));
            place.Write();
        }

        /// <summary>Copies the files of the extension into the export. Returns their paths there.</summary>
        private static List<string> Copy(string folder, string export)
        {
            var paths = new List<string>();
            foreach (var name in new[] { Target, "Shared" })
            {
                Directory.CreateDirectory(Path.Combine(export, name));
                foreach (var file in Directory.GetFiles(Path.Combine(folder, name)))
                {
                    var path = name + "/" + Path.GetFileName(file);
                    File.Copy(file, Path.Combine(export, path), true);
                    paths.Add(path);
                }
            }
            paths.Sort(StringComparer.Ordinal);
            return paths;
        }

        /// <summary>Adds the target of the extension, as project.yml has it.</summary>
        private static void AddExtension(PBXProject project, string main, List<string> files, string package)
        {
            // Unity's own function adds extensions of the older kind, for the folder PlugIns.
            var target = project.AddTarget(Target, ".appex", "com.apple.product-type.extensionkit-extension");
            var sources = project.AddSourcesBuildPhase(target);
            project.AddFrameworksBuildPhase(target);
            foreach (var path in files)
            {
                var file = project.AddFile(path, path);
                if (path.EndsWith(".swift")) project.AddFileToBuildSection(target, sources, file);
            }
            project.AddRemotePackageFrameworkToProject(target, "PackBackground", package, false);
            foreach (var setting in new Dictionary<string, string>
            {
                { "PRODUCT_NAME", "$(TARGET_NAME)" },
                { "PRODUCT_BUNDLE_IDENTIFIER", PlayerSettings.applicationIdentifier + ".downloader" },
                { "INFOPLIST_FILE", Target + "/Info.plist" },
                { "CODE_SIGN_ENTITLEMENTS", Target + "/" + Target + ".entitlements" },
                { "CODE_SIGN_STYLE", "Automatic" },
                { "DEVELOPMENT_TEAM", PlayerSettings.iOS.appleDeveloperTeamID },
                { "SKIP_INSTALL", "YES" },
                { "IPHONEOS_DEPLOYMENT_TARGET", "16.4" },
                { "TARGETED_DEVICE_FAMILY", "1,2" },
                { "SWIFT_VERSION", "6.0" },
                { "SWIFT_DEFAULT_ACTOR_ISOLATION", "MainActor" },
                { "SWIFT_APPROACHABLE_CONCURRENCY", "YES" },
                { "SWIFT_UPCOMING_FEATURE_MEMBER_IMPORT_VISIBILITY", "YES" },
            }) project.SetBuildProperty(target, setting.Key, setting.Value);
            project.AddTargetDependency(main, target);
            // The products directory, which "16" is, and in it the app's Extensions.
            var embed = project.AddCopyFilesBuildPhase(main, "Embed ExtensionKit Extensions", "$(EXTENSIONS_FOLDER_PATH)", "16");
            project.AddFileToBuildSection(main, embed, project.GetTargetProductFileRef(target));
        }

        /// <summary>Gives the extension the versions of the app, which the App Store compares.</summary>
        private static void SetVersions(PBXProject project)
        {
            var target = project.TargetGuidByName(Target);
            project.SetBuildProperty(target, "MARKETING_VERSION", PlayerSettings.bundleVersion);
            project.SetBuildProperty(target, "CURRENT_PROJECT_VERSION", PlayerSettings.iOS.buildNumber);
        }
    }
}
